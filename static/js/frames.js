// One page frame: events from inside it, and its scroll position.
import { reading } from "./reading.js";

const scrollPositions = new WeakMap(); // frame -> { x, y }
const wired = new WeakSet(); // documents with our event listeners
const ACTIVITY_EVENTS = ["pointerdown", "pointermove", "wheel", "touchmove", "scroll", "keydown"];
let hooks = { key() {}, active() {}, problem() {} };

export function listen(newHooks) {
  hooks = newHooks;
}

export const isReady = (frame) => frame.dataset.ready === "1";
export const isShown = (frame) => !frame.classList.contains("frame--next");

function followLink(event) {
  const link = event.target.closest?.("a, area");
  const target = link?.getAttribute("href") ?? link?.getAttribute("xlink:href");
  if (target === null || target === undefined) return;
  event.preventDefault(); // only links within the same page work
  if (!target.startsWith("#")) return;
  const name = decodeURIComponent(target.slice(1));
  const page = event.target.ownerDocument;
  (page.getElementById(name) ?? page.getElementsByName(name)[0] ?? page.body).scrollIntoView();
}

function listenTo(page) {
  if (wired.has(page)) return;
  wired.add(page);
  page.addEventListener("keydown", (event) => hooks.key(event));
  page.addEventListener("click", followLink, true);
  page.addEventListener("auxclick", followLink, true);
  page.addEventListener("submit", (event) => event.preventDefault(), true);
  ACTIVITY_EVENTS.forEach((name) => page.addEventListener(name, () => hooks.active(), { capture: true, passive: true }));
}

function wire(frame) {
  const page = frame.contentDocument;
  if (!page?.URL.includes("/pages/")) return;
  setSize(frame);
  listenTo(page);
  const scroll = scrollPositions.get(frame);
  if (scroll) frame.contentWindow.scrollTo(scroll.x, scroll.y);
  frame.dataset.ready = "1";
  frame.dispatchEvent(new Event("ready", { bubbles: true }));
  if (isShown(frame)) reportProblem(frame);
}

// Tell the judging page if this frame shows one of our error pages instead of a page.
export function reportProblem(frame) {
  const { problem } = frame.contentDocument.documentElement.dataset;
  if (!problem) return;
  frame.dataset.key = ""; // so that the same page under a new link gets a new frame
  hooks.problem(problem);
}

export function adopt(frame) {
  frame.addEventListener("load", () => {
    frame.dataset.ready = "0";
    wire(frame);
  });
  if (frame.contentDocument?.readyState === "complete") wire(frame);
}

export function setSize(frame) {
  frame.contentDocument.documentElement.dataset.size = String(reading.size);
}

// A frame that is removed from the document reloads when it is inserted again; wire() restores the scroll position.
export function noteScroll(frame) {
  const view = frame.contentWindow;
  if (view) scrollPositions.set(frame, { x: view.scrollX, y: view.scrollY });
}

// Copy the scroll position to a frame with the same page and other marks.
export function keepScroll(from, to) {
  noteScroll(from);
  const scroll = scrollPositions.get(from);
  if (!scroll) return;
  scrollPositions.set(to, scroll);
  if (isReady(to)) to.contentWindow.scrollTo(scroll.x, scroll.y);
}

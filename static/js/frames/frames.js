// One page frame: events from inside it, its text size and its scroll position.
import * as memory from "./memory.js";
import { reading } from "../screen/preferences.js";
import { fold, unfold } from "./slices.js";

const wired = new WeakSet(); // documents with our event listeners
const ACTIVITY_EVENTS = ["pointerdown", "pointermove", "wheel", "touchmove", "scroll", "keydown"];
let hooks = { key() {}, press() {}, focus() {}, wheel() {}, scroll() {}, active() {}, problem() {} };

export function listen(newHooks) {
  hooks = { ...hooks, ...newHooks };
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

function listenTo(page, frame) {
  if (wired.has(page)) return;
  wired.add(page);
  const passive = { capture: true, passive: true };
  page.addEventListener("keydown", (event) => hooks.key(event));
  page.addEventListener("click", followLink, true);
  page.addEventListener("auxclick", followLink, true);
  page.addEventListener("submit", (event) => event.preventDefault(), true);
  page.addEventListener("pointerdown", (event) => hooks.press(event, frame), passive);
  page.addEventListener("wheel", () => hooks.wheel(frame), passive);
  page.addEventListener("scroll", (event) => scrolled(event, frame), passive);
  page.defaultView.addEventListener("focus", () => hooks.focus(frame, true));
  page.defaultView.addEventListener("blur", () => hooks.focus(frame, false));
  ACTIVITY_EVENTS.forEach((name) => page.addEventListener(name, () => hooks.active(), passive));
}

const boxOf = (frame) => frame.contentDocument?.scrollingElement ?? frame.contentDocument?.documentElement;

function scrolled(event, frame) {
  if (!isShown(frame) || !frame.isConnected) return;
  if (event.target === frame.contentDocument) memory.note(frame.dataset.name, boxOf(frame));
  hooks.scroll(frame);
}

const pathOf = (address) => new URL(address, document.baseURI).pathname;

// Return the token of the page that the frame really shows.
export const tokenOf = (frame) => /\/pages\/([^/]+)\//.exec(pathOf(frame.contentDocument?.URL ?? ""))?.[1] ?? "";

function wire(frame) {
  const page = frame.contentDocument;
  if (!page?.URL.includes("/pages/")) return;
  if (pathOf(page.URL) !== pathOf(frame.src)) { frame.contentWindow.location.replace(frame.src); return; } // a browser can restore another page
  page.documentElement.dataset.size = String(reading.size);
  listenTo(page, frame);
  if (isShown(frame)) restoreScroll(frame);
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

// Until its page is there a frame is not displayed: the browser would lay out what it has again and again.
export function delay(frame) {
  frame.dataset.ready = "0";
  frame.classList.add("frame--loading");
}

function display(frame) {
  if (!frame.classList.contains("frame--loading")) return;
  fold(frame.contentDocument);
  frame.classList.remove("frame--loading");
}

export function adopt(frame) {
  frame.addEventListener("load", () => {
    frame.dataset.ready = "0";
    display(frame);
    wire(frame);
  });
  if (frame.contentDocument?.readyState === "complete") wire(frame);
}

// A page that appears again, in whichever frame, is where the person left it.
export function restoreScroll(frame) {
  if (memory.has(frame.dataset.name)) unfold(frame.contentDocument, Infinity);
  memory.restore(frame.dataset.name, boxOf(frame));
}

// Return the first text on the screen, to find it again after the text has changed its size.
function firstText(page) {
  const view = page.defaultView;
  for (const y of [4, 24, 48]) {
    const found = page.caretPositionFromPoint?.(view.innerWidth / 3, y);
    if (found?.offsetNode?.nodeType !== Node.TEXT_NODE) continue;
    const range = page.createRange();
    range.setStart(found.offsetNode, found.offset);
    range.setEnd(found.offsetNode, Math.min(found.offset + 1, found.offsetNode.length));
    return range;
  }
  return null;
}

export function setSize(frame) {
  const page = frame.contentDocument;
  const box = boxOf(frame);
  const first = box.scrollTop > 0 && isShown(frame) ? firstText(page) : null;
  const before = first?.getBoundingClientRect().top;
  page.documentElement.dataset.size = String(reading.size);
  if (first) box.scrollTop += first.getBoundingClientRect().top - before;
}

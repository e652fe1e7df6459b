// One page frame: what is heard from inside it, and where it was scrolled to.
import { reading } from "./reading.js";

const places = new WeakMap(); // frame -> how far it was scrolled
const wired = new WeakSet(); // documents that are listened to
const SIGNS = ["pointerdown", "pointermove", "wheel", "touchmove", "scroll", "keydown"];
let hooks = { key() {}, active() {}, problem() {} };

export function listen(given) {
  hooks = given;
}

export const isReady = (frame) => frame.dataset.ready === "1";
export const isShown = (frame) => !frame.classList.contains("frame--next");

function followLink(event) {
  const link = event.target.closest?.("a, area");
  const target = link?.getAttribute("href") ?? link?.getAttribute("xlink:href");
  if (target === null || target === undefined) return;
  event.preventDefault(); // links lead nowhere but to a place in the same page
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
  SIGNS.forEach((sign) => page.addEventListener(sign, () => hooks.active(), { capture: true, passive: true }));
}

function wire(frame) {
  const page = frame.contentDocument;
  if (!page?.URL.includes("/pages/")) return;
  setSize(frame);
  listenTo(page);
  const place = places.get(frame);
  if (place) frame.contentWindow.scrollTo(place.x, place.y);
  frame.dataset.ready = "1";
  frame.dispatchEvent(new Event("ready", { bubbles: true }));
  if (isShown(frame)) complain(frame);
}

// Tell the work page if this frame holds a word of ours instead of a page.
export function complain(frame) {
  const { problem } = frame.contentDocument.documentElement.dataset;
  if (!problem) return;
  frame.dataset.key = ""; // the same page under a fresh link is another frame
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

// A frame that leaves the document loads again when it comes back, and is then at the same place.
export function noteScroll(frame) {
  const view = frame.contentWindow;
  if (view) places.set(frame, { x: view.scrollX, y: view.scrollY });
}

// The same page under other marks stays where it was.
export function keepPlace(from, to) {
  noteScroll(from);
  const place = places.get(from);
  if (!place) return;
  places.set(to, place);
  if (isReady(to)) to.contentWindow.scrollTo(place.x, place.y);
}

// Page frames: each pane holds the frame that is shown and, unseen, those that may come next.
import { reading } from "./reading.js";

const places = new WeakMap(); // frame -> how far it was scrolled
const wired = new WeakSet(); // documents that are listened to
const SIGNS = ["pointerdown", "pointermove", "wheel", "touchmove", "scroll", "keydown"];
let hooks = { key() {}, active() {}, problem() {} };

export function listen(given) {
  hooks = given;
}

const framesOf = (box) => [...box.querySelectorAll("iframe")];
const shownIn = (box) => box.querySelector("iframe:not(.frame--next)");
const isReady = (frame) => frame.dataset.ready === "1";

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

function wire(frame) {
  const page = frame.contentDocument;
  if (!page || page.URL === "about:blank") return;
  if (!page.URL.includes("/pages/")) return;
  page.documentElement.dataset.size = String(reading.size);
  if (!wired.has(page)) {
    wired.add(page);
    page.addEventListener("keydown", (event) => hooks.key(event));
    page.addEventListener("click", followLink, true);
    page.addEventListener("auxclick", followLink, true);
    page.addEventListener("submit", (event) => event.preventDefault(), true);
    SIGNS.forEach((sign) => page.addEventListener(sign, () => hooks.active(), { capture: true, passive: true }));
  }
  const place = places.get(frame);
  if (place) frame.contentWindow.scrollTo(place.x, place.y);
  frame.dataset.ready = "1";
  unveil(frame.parentElement);
  if (!frame.classList.contains("frame--next")) complain(frame);
}

function complain(frame) {
  const { problem } = frame.contentDocument.documentElement.dataset;
  if (!problem) return;
  frame.dataset.key = ""; // the same page under a fresh link is another frame
  hooks.problem(problem);
}

function adopt(frame) {
  frame.addEventListener("load", () => {
    frame.dataset.ready = "0";
    wire(frame);
  });
  if (frame.contentDocument?.readyState === "complete") wire(frame);
}

// Grey bars in the shape of text, if a page takes longer than one notices.
function veil(box) {
  const frame = shownIn(box);
  setTimeout(() => {
    if (shownIn(box) !== frame || isReady(frame) || box.querySelector(".frames__wait")) return;
    const bars = document.createElement("div");
    bars.className = "frames__wait";
    bars.setAttribute("aria-hidden", "true");
    for (const width of ["loading w60", "loading", "loading", "loading w80"]) {
      bars.append(Object.assign(document.createElement("span"), { className: width }));
    }
    box.append(bars);
  }, 400);
}

function unveil(box) {
  const frame = box && shownIn(box);
  if (frame && isReady(frame)) box.querySelector(".frames__wait")?.remove();
}

export function begin(boxes) {
  boxes.forEach((box) => framesOf(box).forEach(adopt));
  boxes.forEach(veil);
}

function put(box, wanted) {
  const frame = document.importNode(wanted, false);
  frame.classList.add("frame--next");
  adopt(frame);
  box.append(frame);
  return frame;
}

const find = (box, key) => framesOf(box).find((frame) => frame.dataset.key === key);

function placeOf(frame) {
  const view = frame.contentWindow;
  return view ? { x: view.scrollX, y: view.scrollY } : { x: 0, y: 0 };
}

// Show the frame that `wanted` describes: one made ready before, or a new one.
export function show(box, wanted) {
  const now = shownIn(box);
  const next = find(box, wanted.dataset.key) ?? put(box, wanted);
  if (next === now) return;
  if (now && now.dataset.name === next.dataset.name) {
    places.set(next, placeOf(now)); // the same page with other marks stays where it was
    if (isReady(next)) next.contentWindow.scrollTo(places.get(next).x, places.get(next).y);
  }
  next.classList.remove("frame--next");
  now?.classList.add("frame--next");
  box.querySelector(".frames__wait")?.remove();
  if (isReady(next)) complain(next);
  else veil(box);
}

// Make frames ready that may come next, and let go of those that cannot.
export function prepare(box, wanted) {
  const keys = new Set(wanted.map((frame) => frame.dataset.key));
  framesOf(box).filter((frame) => frame.classList.contains("frame--next") && !keys.has(frame.dataset.key)).forEach((frame) => frame.remove());
  wanted.forEach((frame) => find(box, frame.dataset.key) ?? put(box, frame));
}

export function resize(boxes) {
  boxes.flatMap(framesOf).filter(isReady).forEach((frame) => { frame.contentDocument.documentElement.dataset.size = String(reading.size); });
}

// Before frames are taken out of the page: a frame that comes back loads again, at the same place.
export function noteScroll(boxes) {
  boxes.map(shownIn).forEach((frame) => frame && places.set(frame, placeOf(frame)));
}

export function whenReady(boxes, then) {
  const look = () => (boxes.map(shownIn).every((frame) => !frame || isReady(frame)) ? then() : setTimeout(look, 20));
  look();
}

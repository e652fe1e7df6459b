// All frames of the judging page: those that are shown, and hidden prefetched ones for possible next questions.
import { adopt, delay, reportProblem, isReady, isShown, restoreScroll, setSize } from "./frames.js";
import { layOut } from "./layout.js";

// With moveBefore a frame can move without reloading, so one frame serves both sides.
const MOVES = "moveBefore" in Element.prototype;
const WAIT_MS = 400;
const MOST_HIDDEN = 12; // frames; above it those that no possible question needs are removed, the oldest first
let round = 0;

const pause = () => new Promise((resolve) => { setTimeout(resolve, 30); });

const framesOf = (box) => [...box.querySelectorAll("iframe")];
const shownIn = (box) => framesOf(box).find(isShown);

function find(boxes, box, key) {
  const searched = MOVES ? boxes : [box];
  return searched.flatMap(framesOf).find((frame) => frame.dataset.key === key);
}

export const has = (boxes, box, wanted) => { const frame = find(boxes, box, wanted.dataset.key); return Boolean(frame && isReady(frame)); };

function put(box, wanted) {
  const frame = document.importNode(wanted, false);
  frame.classList.add("frame--next");
  delay(frame);
  adopt(frame);
  box.append(frame);
  return frame;
}

// Show grey bars as a placeholder if a page takes noticeably long to load.
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
  }, WAIT_MS);
}

export function begin(boxes) {
  for (const box of boxes) {
    framesOf(box).forEach(adopt);
    box.addEventListener("ready", (event) => {
      if (isShown(event.target)) box.querySelector(".frames__wait")?.remove();
      layOut(event.target);
    });
    veil(box);
  }
}

// Show the wanted frame in each box: a prefetched one, or a new one.
export function show(boxes, wanted) {
  const before = boxes.map(shownIn);
  const next = boxes.map((box, at) => find(boxes, box, wanted[at].dataset.key) ?? put(box, wanted[at]));
  before.forEach((frame) => frame?.classList.add("frame--next"));
  boxes.forEach((box, at) => {
    const frame = next[at];
    if (frame.parentElement !== box) {
      if (box.isConnected) box.moveBefore(frame, null);
      else box.append(frame);
    }
    frame.title = wanted[at].title;
    frame.classList.remove("frame--next");
    box.classList.toggle("frames--light", frame.classList.contains("frame--light")); // while it loads
    box.parentElement.toggleAttribute("data-text", frame.dataset.view === "text");
    box.querySelector(".frames__wait")?.remove();
    if (isReady(frame)) { restoreScroll(frame); reportProblem(frame); }
    else veil(box);
  });
}

// Remove frames one by one: each takes as long as a long page has elements.
async function discard(frames, mine) {
  for (const frame of frames) {
    await pause();
    if (mine !== round) return;
    if (!isShown(frame)) frame.remove();
  }
}

// Prefetch frames of possible next questions, the likely ones first, and remove frames that are not needed.
export async function prepare(boxes, groups) {
  const mine = (round += 1);
  const keys = new Set(groups.flat().map(([, frame]) => frame.dataset.key));
  const hidden = boxes.flatMap(framesOf).filter((frame) => !isShown(frame));
  const spare = hidden.filter((frame) => !keys.has(frame.dataset.key));
  discard(spare.slice(0, Math.max(0, hidden.length - MOST_HIDDEN)), mine);
  for (const group of groups) {
    const made = group.filter(([box, frame]) => !find(boxes, box, frame.dataset.key)).map(([box, frame]) => find(boxes, box, frame.dataset.key) ?? put(box, frame));
    while (made.some((frame) => frame.isConnected && !isReady(frame))) {
      await pause();
      if (mine !== round) return false;
    }
  }
  return true;
}

export const shownFrames = (boxes) => boxes.map(shownIn);

export const resize = (boxes) => boxes.flatMap(framesOf).filter(isReady).forEach(setSize);

export function whenShown(boxes, then) {
  const look = () => (shownFrames(boxes).every((frame) => !frame || isReady(frame)) ? then() : setTimeout(look, 20));
  look();
}

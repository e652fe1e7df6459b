// Lays out the rest of the pages, slice by slice, while the person reads: of those on the screen at once, of the prefetched
// ones after a while.
import { isShown, restoreScroll } from "./frames.js";
import { isFolded, unfold } from "./slices.js";

const READ_MS = 1000; // of reading, before prefetched pages are laid out
const queue = [];
let isRunning = false;
let held = Promise.resolve();
let shownAt = 0;

// Wait until the question that is being shown has been painted.
export function hold(painted) {
  held = painted;
  shownAt = performance.now();
}

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

function finish(frame) {
  queue.splice(queue.indexOf(frame), 1);
  if (!frame.isConnected) return;
  if (!isShown(frame)) restoreScroll(frame);
  frame.dispatchEvent(new Event("whole", { bubbles: true }));
}

function step(frame) {
  const page = frame.isConnected ? frame.contentDocument : null;
  unfold(page);
  page?.documentElement?.scrollHeight; // asking for it lays out what is displayed
  if (!isFolded(page)) finish(frame);
}

async function run() {
  isRunning = true;
  while (queue.length) {
    await pause(0);
    await held;
    const wait = shownAt + READ_MS - performance.now();
    const next = queue.find((frame) => isShown(frame) || !frame.isConnected) ?? (wait > 0 ? null : queue[0]);
    if (next) step(next);
    else await pause(Math.min(wait, 50));
  }
  isRunning = false;
}

export function layOut(frame) {
  if (!queue.includes(frame)) queue.push(frame);
  if (!isRunning) run();
}

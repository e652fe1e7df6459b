// Lays out the pages of the frames, slice by slice, while the person reads: those on the screen first, then the prefetched
// ones in the order in which they came.
import { isShown, restoreScroll } from "./frames.js";
import { isFolded, unfold } from "./slices.js";

const queue = [];
let isRunning = false;
let held = Promise.resolve();

// Wait for `promise` before the next slice.
export function hold(promise) {
  held = promise;
}

const otherTasks = () => new Promise((resolve) => { setTimeout(resolve); });

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
    await otherTasks();
    await held;
    step(queue.find(isShown) ?? queue[0]);
  }
  isRunning = false;
}

export function layOut(frame) {
  if (!queue.includes(frame)) queue.push(frame);
  if (!isRunning) run();
}

// When the question on the screen can be answered: no answer counts before its pages have been visible for a moment. A
// second press of a key, a button or a finger was meant for the question before.
import { form, position } from "./stage.js";

const SEEN_MS = 300;
let number = 0; // of the latest question
let since = 0; // when it came, with or without its pages

// Nothing can be answered until `visible` resolves and the moment has passed. `data-seen` is the position that can be.
export async function wait(visible) {
  const mine = (number += 1);
  since = performance.now();
  delete form.dataset.seen;
  await visible;
  setTimeout(() => { if (mine === number) form.dataset.seen = position(); }, SEEN_MS);
}

export const isSeen = () => form.dataset.seen !== undefined;

// Undo and redo judge nothing, and a page that never arrives cannot be judged.
export function isOpen({ name, value }) {
  if (name === "step" || isSeen()) return true;
  return value.endsWith("unjudgeable") && performance.now() - since > SEEN_MS;
}

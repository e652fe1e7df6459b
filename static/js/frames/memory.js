// Reading positions: where the person was in each page and list of this query, also after a reload.
import { keep, load } from "../offline/store.js";

const MOST = 500; // pages
const SAVE_MS = 300;
const places = new Map(load("places", [])); // page or list -> [scrollTop, scrollHeight]
let timer = null;

function save() {
  clearTimeout(timer);
  timer = null;
  keep("places", [...places].slice(-MOST), places.size === 0);
}

export function note(name, box) {
  if (!name || !box) return;
  places.delete(name); // the latest comes last
  places.set(name, [Math.round(box.scrollTop), box.scrollHeight]);
  timer ??= setTimeout(save, SAVE_MS);
}

export const has = (name) => places.has(name);

// Scroll to where the person was; in proportion, if the text is longer or shorter now.
export function restore(name, box) {
  const found = places.get(name);
  if (!found || !box) return;
  const top = Math.round((found[0] * box.scrollHeight) / (found[1] || 1));
  if (Math.abs(box.scrollTop - top) > 1) box.scrollTo({ top, behavior: "instant" });
}

addEventListener("pagehide", () => { if (timer) save(); });

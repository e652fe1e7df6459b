// Passages that the person marks in a page: kept in this browser for the query and painted whenever the page is shown.
import { currentHit } from "./finder.js";
import * as notices from "../notices/notices.js";
import { offsetsOf, paint, rangeAt, sentenceAt, textOf } from "./page_text.js";
import { activePane, frameIn } from "../screen/panes.js";
import { keep, load } from "../offline/store.js";

const passages = new Map(Object.entries(load("passages", {}))); // page -> [[start, end, text], ...]

const shown = () => [...document.querySelectorAll(".frames iframe:not(.frame--next), .reader iframe")].filter((frame) => frame.contentDocument?.body);

// Return the passages of a page as ranges. A text that has moved is found where it is now.
function rangesIn(frame) {
  const marked = passages.get(frame.dataset.name) ?? [];
  if (!marked.length) return [];
  const page = frame.contentDocument;
  const { text, parts } = textOf(page);
  return marked.flatMap(([start, end, quote]) => {
    const at = text.slice(start, end) === quote ? start : text.indexOf(quote);
    return at < 0 ? [] : [rangeAt(page, parts, at, at + quote.length)];
  });
}

export const paintPassages = () => shown().forEach((frame) => paint(frame, "topkapi-passage", rangesIn(frame)));

function store() {
  const filled = [...passages].filter(([, marked]) => marked.length);
  keep("passages", Object.fromEntries(filled), filled.length === 0);
}

// Mark a stretch of text, or remove the marks that it touches.
function toggle(frame, text, [start, end]) {
  const marked = passages.get(frame.dataset.name) ?? [];
  const others = marked.filter(([from, to]) => to < start || from > end);
  const isRemoved = others.length < marked.length;
  if (!isRemoved && start >= end) return;
  passages.set(frame.dataset.name, isRemoved ? others : [...marked, [start, end, text.slice(start, end)]]);
  store();
  paintPassages();
  notices.clear("passage");
  document.getElementById("announce").textContent = isRemoved ? "The mark is removed." : "Marked.";
}

// Return the frame and range to mark: what is selected, in the active page first; else the passage that was clicked; else
// the hit that was visited last.
function chosen() {
  const frames = [document.querySelector(".reader iframe"), frameIn(activePane()), ...shown()].filter(Boolean);
  const selections = frames.map((frame) => [frame, frame.contentDocument.getSelection()]).filter(([, selection]) => selection?.rangeCount);
  const [frame, selection] = selections.find(([, each]) => each.type === "Range") ?? [];
  if (frame) return { frame, range: selection.getRangeAt(0) };
  const caret = selections.find(([each, { anchorNode, anchorOffset }]) => rangesIn(each).some((range) => range.isPointInRange(anchorNode, anchorOffset)));
  return caret ? { frame: caret[0], range: caret[1].getRangeAt(0) } : currentHit();
}

function mark() {
  const found = chosen();
  if (!found) { notices.tell("passage"); return; }
  const content = textOf(found.frame.contentDocument);
  const offsets = offsetsOf(found.range, content);
  if (!offsets) return;
  toggle(found.frame, content.text, found.isHit ? sentenceAt(content.text, offsets[0]) : offsets);
  if (!found.isHit) found.frame.contentDocument.getSelection().removeAllRanges();
}

export function wirePassages() {
  document.addEventListener("click", (event) => { if (event.target.closest("[data-passage]")) mark(); });
}

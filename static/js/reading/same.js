// Tells when both pages have the same text, or nearly the same, and marks what differs. Pages are compared while nothing
// else is to do; what is known about a page is kept with it.
import { paint, rangeAt, textOf } from "./page_text.js";
import * as panes from "../screen/panes.js";

const MOST = 100_000; // characters of each page in which differences are looked for
const SAMPLES = 40; // short passages by which most pairs are told apart at once
const SAMPLE = 24; // characters
const NEAR = 0.9; // of the three-word sequences of both pages, the share that both have
const LENGTH = 3; // words of a sequence
// Chinese and Japanese are written without spaces: each character counts as a word.
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu;
const plains = new WeakMap(); // page -> its text with single spaces
const sequences = new WeakMap(); // page -> its words, and the set of their sequences

const kept = (map, page, make) => { if (!map.has(page)) map.set(page, make(page)); return map.get(page); };
const plainOf = (page) => kept(plains, page, () => textOf(page).text.replace(/\s+/g, " ").trim());

function sequencesOf(page) {
  return kept(sequences, page, () => {
    const words = [];
    const at = []; // the sequence that begins with each word
    for (const { 0: found, index } of textOf(page).text.slice(0, MOST).matchAll(WORD)) {
      const count = words.push({ word: found.toLowerCase(), start: index, end: index + found.length });
      if (count >= LENGTH) at.push(`${words[count - 3].word} ${words[count - 2].word} ${words[count - 1].word}`);
    }
    return { words, at, all: new Set(at) };
  });
}

// Return whether at least half of some passages of one text are in the other.
function mayBeNear(first, second) {
  const step = first.length / SAMPLES;
  let common = 0;
  for (let number = 0; number < SAMPLES; number += 1) common += second.includes(first.slice(number * step, number * step + SAMPLE));
  return 2 * common >= SAMPLES;
}

// Return "same", "near" or null.
function likeness(one, other) {
  const [first, second] = [plainOf(one), plainOf(other)];
  if (!first || !second) return null;
  if (first === second) return "same";
  if (Math.min(first.length, second.length) < NEAR * Math.max(first.length, second.length) || !mayBeNear(first, second)) return null;
  const [a, b] = [sequencesOf(one).all, sequencesOf(other).all];
  let common = 0;
  for (const sequence of a) common += b.has(sequence);
  return 2 * common >= NEAR * (a.size + b.size) && common ? "near" : null;
}

// Return the stretches of a page that are not in the other one: words none of whose sequences is in it.
function differences(page, other) {
  const [{ words, at }, { all }] = [sequencesOf(page), sequencesOf(other)];
  const isShared = new Array(words.length).fill(false);
  at.forEach((sequence, index) => { if (all.has(sequence)) isShared.fill(true, index, index + LENGTH); });
  const stretches = [];
  words.forEach(({ start, end }, index) => {
    if (isShared[index]) return;
    if (index && stretches.length && !isShared[index - 1]) stretches.at(-1)[1] = end;
    else stretches.push([start, end]);
  });
  const { parts } = textOf(page);
  return stretches.map(([start, end]) => rangeAt(page, parts, start, end));
}

const frames = () => panes.all().map(panes.frameIn).filter((frame) => frame?.dataset.ready === "1");
const badges = () => [...document.querySelectorAll(".badge--same")];

function mark(on) {
  const [left, right] = frames();
  if (!right) return;
  const pages = [left.contentDocument, right.contentDocument];
  paint(left, "topkapi-difference", on ? differences(...pages) : []);
  paint(right, "topkapi-difference", on ? differences(...pages.reverse()) : []);
  badges().forEach((badge) => badge.setAttribute("aria-pressed", String(on)));
}

function compare() {
  badges().forEach((badge) => badge.remove());
  mark(false);
  const [left, right] = frames();
  if (!right) return;
  const found = likeness(left.contentDocument, right.contentDocument);
  const badge = document.querySelector(`template[data-likeness="${found}"]`);
  if (!badge) return;
  for (const side of ["left", "right"]) document.getElementById(`${side}-title`).append(document.importNode(badge.content, true));
  badges().at(-1).removeAttribute("aria-keyshortcuts"); // a key stands for one control
}

let waiting = null;

// Compare the pages on the screen soon.
export function compareSoon() {
  if (panes.all().length < 2 || !document.querySelector("template[data-likeness]")) return;
  cancelIdleCallback(waiting);
  waiting = requestIdleCallback(compare, { timeout: 1000 });
}

document.addEventListener("ready", ({ target: frame }) => { if (!frame.classList.contains("frame--next")) compareSoon(); });
document.addEventListener("click", (event) => {
  const badge = event.target.closest("button.badge--same");
  if (badge) mark(badge.getAttribute("aria-pressed") !== "true");
});

// Find in the pages on the screen: hits are painted without changing the pages, counted, and visited in order. Without a
// word to find, the same keys visit the highlighted terms.
import { paint, rangeAt, textOf } from "./page_text.js";
import * as panes from "../screen/panes.js";

const MOST = 2000; // hits per page
const TYPING_MS = 150; // without another letter, before a word is searched
const bar = document.getElementById("finder");
const field = document.getElementById("finder-text");
const counts = document.getElementById("finder-counts");
const opener = document.getElementById("find");
let hits = []; // { pane, range } in reading order
let current = -1;
let typed = null; // the timer for a word that is being typed

function search(pane, word) {
  const page = panes.frameIn(pane)?.contentDocument;
  if (!page?.body || !word) return [];
  const { text, parts } = textOf(page);
  const pattern = new RegExp(word.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
  const found = [];
  for (const match of text.matchAll(pattern)) {
    if (found.length === MOST || !match[0]) break;
    found.push({ pane, range: rangeAt(page, parts, match.index, match.index + match[0].length) });
  }
  return found;
}

function markedTerms(pane) {
  const page = panes.frameIn(pane)?.contentDocument;
  return [...(page?.querySelectorAll("mark[data-mark]") ?? [])].map((mark) => {
    const range = page.createRange();
    range.selectNodeContents(mark);
    return { pane, range };
  });
}

const word = () => (bar.hidden ? "" : field.value.trim());

// Search the pages on the screen again: the word or the pages have changed.
export function refreshHits() {
  if (!bar) return;
  clearTimeout(typed);
  typed = null;
  current = -1;
  const each = panes.all().map((pane) => (word() ? search(pane, word()) : []));
  hits = each.flat();
  panes.all().forEach((pane, at) => { paint(panes.frameIn(pane), "topkapi-find", each[at].map(({ range }) => range)); paint(panes.frameIn(pane), "topkapi-hit", []); });
  if (!word()) counts.textContent = "";
  else counts.textContent = each.length > 1 ? perPage(hits) : `${hits.length} found`;
}

function perPage(found) {
  const [left, right] = panes.all().map((pane) => found.filter((hit) => hit.pane === pane).length);
  return `Left ${left}, right ${right}`;
}

function next(step) {
  if (typed) refreshHits();
  if (!word()) hits = panes.all().flatMap(markedTerms);
  if (!hits.length) return;
  if (current < 0) current = startIn(panes.activePane(), step);
  else current = (current + step + hits.length) % hits.length;
  visit(hits[current]);
}

// The first hit below the top of the active page, or the last one above it.
function startIn(pane, step) {
  const inView = (hit) => hit.pane === pane && hit.range.getBoundingClientRect().top >= 0;
  const first = hits.findIndex(inView);
  const from = first >= 0 ? first : Math.max(0, hits.findIndex((hit) => hit.pane === pane));
  return step > 0 ? from : (from - 1 + hits.length) % hits.length;
}

function visit({ pane, range }) {
  panes.clearSelections();
  panes.all().forEach((each) => paint(panes.frameIn(each), "topkapi-hit", each === pane ? [range] : []));
  panes.activate(pane);
  const view = panes.frameIn(pane).contentWindow;
  const { top } = range.getBoundingClientRect();
  if (top < 40 || top > view.innerHeight - 80) panes.scroller(pane).scrollBy({ top: top - view.innerHeight / 3, behavior: "instant" });
  if (!word()) return;
  const place = `${hits.findIndex((hit) => hit.range === range) + 1} of ${hits.length}`;
  counts.textContent = panes.all().length > 1 ? `${place} · ${perPage(hits)}` : place;
}

// Return the hit that was visited last, if it is still on the screen.
export function currentHit() {
  const hit = hits[current];
  return hit?.range.startContainer.isConnected ? { frame: panes.frameIn(hit.pane), range: hit.range, isHit: true } : null;
}

export function close() {
  if (!bar || bar.hidden) return false;
  bar.hidden = true;
  opener.setAttribute("aria-expanded", "false");
  refreshHits();
  return true;
}

export function wireFinder() {
  if (!bar) return;
  opener.addEventListener("click", () => {
    if (document.getElementById("resume")) return; // the pages are away
    bar.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    field.focus();
    field.select();
    refreshHits();
  });
  field.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(refreshHits, TYPING_MS); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.shiftKey) { event.preventDefault(); next(-1); }
  });
  bar.addEventListener("submit", (event) => { event.preventDefault(); next(1); });
  bar.addEventListener("click", (event) => {
    const button = event.target.closest("[data-hit]");
    if (button && button.type !== "submit") next(Number(button.dataset.hit));
    if (event.target.closest("#finder-close")) close();
  });
}

// Find in the pages on the screen: hits are painted without changing the pages, counted, and visited in order. Without a
// word to find, the same keys visit the highlighted terms.
import * as panes from "./panes.js";

const MOST = 2000; // hits per page
const BLOCKS = "ADDRESS ARTICLE ASIDE BLOCKQUOTE BR DD DIV DL DT FIGCAPTION FOOTER H1 H2 H3 H4 H5 H6 HEADER HR LI MAIN NAV OL P PRE SECTION TABLE TD TH TR UL".split(" ");
const SKIPPED = "SCRIPT STYLE NOSCRIPT TEMPLATE TEXTAREA SELECT".split(" ");
const COLOURS = "::highlight(topkapi-find) { background: #ffb224; color: #1e1c19; } ::highlight(topkapi-hit) { background: #e5484d; color: #fff; }";
const bar = document.getElementById("finder");
const field = document.getElementById("finder-text");
const counts = document.getElementById("finder-counts");
const opener = document.getElementById("find");
const styled = new WeakSet(); // documents that know the colours
let hits = []; // { pane, range } in reading order
let current = -1;

// Return the text of a page with the text node of each part of it.
function textOf(page) {
  const walker = page.createTreeWalker(page.body ?? page, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    (SKIPPED.includes(node.nodeName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const parts = [];
  let text = "";
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      parts.push({ node, start: text.length });
      text += node.data;
    } else if (BLOCKS.includes(node.nodeName)) text += "\n";
  }
  return { text, parts };
}

function rangeAt(page, parts, start, end) {
  const place = (offset) => parts.findLast((part) => part.start <= offset);
  const range = page.createRange();
  const [first, last] = [place(start), place(end - 1)];
  range.setStart(first.node, start - first.start);
  range.setEnd(last.node, end - last.start);
  return range;
}

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

function paint(pane, name, ranges) {
  const view = panes.frameIn(pane)?.contentWindow;
  if (!view?.CSS?.highlights || (!ranges.length && !styled.has(view.document))) return;
  if (!styled.has(view.document)) {
    const sheet = new view.CSSStyleSheet();
    sheet.replaceSync(COLOURS);
    view.document.adoptedStyleSheets = [...view.document.adoptedStyleSheets, sheet];
    styled.add(view.document);
  }
  if (ranges.length) view.CSS.highlights.set(name, new view.Highlight(...ranges));
  else view.CSS.highlights.delete(name);
}

const word = () => (bar.hidden ? "" : field.value.trim());

// Search the pages on the screen again: the word or the pages have changed.
export function refreshHits() {
  if (!bar) return;
  current = -1;
  const each = panes.all().map((pane) => (word() ? search(pane, word()) : []));
  hits = each.flat();
  panes.all().forEach((pane, at) => { paint(pane, "topkapi-find", each[at].map(({ range }) => range)); paint(pane, "topkapi-hit", []); });
  if (!word()) counts.textContent = "";
  else counts.textContent = each.length > 1 ? perPage(hits) : `${hits.length} found`;
}

function perPage(found) {
  const [left, right] = panes.all().map((pane) => found.filter((hit) => hit.pane === pane).length);
  return `Left ${left}, right ${right}`;
}

function next(step) {
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
  panes.all().forEach((each) => paint(each, "topkapi-hit", each === pane ? [range] : []));
  panes.activate(pane);
  const view = panes.frameIn(pane).contentWindow;
  const { top } = range.getBoundingClientRect();
  if (top < 40 || top > view.innerHeight - 80) panes.scroller(pane).scrollBy({ top: top - view.innerHeight / 3, behavior: "instant" });
  if (!word()) return;
  const place = `${hits.findIndex((hit) => hit.range === range) + 1} of ${hits.length}`;
  counts.textContent = panes.all().length > 1 ? `${place} · ${perPage(hits)}` : place;
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
    bar.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    field.focus();
    field.select();
    refreshHits();
  });
  field.addEventListener("input", refreshHits);
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

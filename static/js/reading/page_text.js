// The text of a page in a frame: positions in it as ranges, and ranges painted without changing the page.
const BLOCKS = new Set("ADDRESS ARTICLE ASIDE BLOCKQUOTE BR DD DIV DL DT FIGCAPTION FOOTER H1 H2 H3 H4 H5 H6 HEADER HR LI MAIN NAV OL P PRE SECTION TABLE TD TH TR UL".split(" "));
const SKIPPED = new Set("SCRIPT STYLE NOSCRIPT TEMPLATE TEXTAREA SELECT".split(" "));
const texts = new WeakMap(); // loaded documents -> their text, which does not change

// Return the text of a page with the text node of each part of it. Marks of terms do not change it, nor do the parts in which
// the server sends a long plain text.
export function textOf(page) {
  const found = texts.get(page) ?? readText(page);
  if (page.readyState === "complete") texts.set(page, found);
  return found;
}

function readText(page) {
  const walker = page.createTreeWalker(page.body ?? page, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
    (SKIPPED.has(node.nodeName) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
  const parts = [];
  const pieces = [];
  let length = 0;
  const add = (piece) => { pieces.push(piece); length += piece.length; };
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.nodeType === Node.TEXT_NODE) {
      parts.push({ node, start: length });
      add(node.data);
    } else if (BLOCKS.has(node.nodeName) && !node.hasAttribute("data-topkapi-part")) add("\n");
  }
  return { text: pieces.join(""), parts };
}

// Return the last part that starts at or before an offset.
function partAt(parts, offset) {
  let [low, high] = [0, parts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (parts[middle].start <= offset) low = middle;
    else high = middle - 1;
  }
  return parts[low];
}

export function rangeAt(page, parts, start, end) {
  const range = page.createRange();
  const [first, last] = [partAt(parts, start), partAt(parts, end - 1)];
  range.setStart(first.node, start - first.start);
  range.setEnd(last.node, end - last.start);
  return range;
}

// Return where a range begins and ends in the text, without white space around it; null if it holds no text node.
export function offsetsOf(range, { text, parts }) {
  const inside = parts.filter(({ node }) => range.intersectsNode(node));
  if (!inside.length) return null;
  const [first, last] = [inside[0], inside.at(-1)];
  const start = first.start + (first.node === range.startContainer ? range.startOffset : 0);
  const end = last.start + (last.node === range.endContainer ? range.endOffset : last.node.length);
  const found = text.slice(start, end);
  return [start + found.length - found.trimStart().length, end - found.length + found.trimEnd().length];
}

// Return where the sentence around a position begins and ends.
export function sentenceAt(text, offset) {
  const from = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(from, text.indexOf("\n", offset) < 0 ? text.length : text.indexOf("\n", offset));
  const parts = [...new Intl.Segmenter(undefined, { granularity: "sentence" }).segment(line)];
  const { index, segment } = parts.find((part) => from + part.index + part.segment.length > offset) ?? parts[0];
  return [from + index + segment.length - segment.trimStart().length, from + index + segment.trimEnd().length];
}

// Paint ranges in the colour that the server's style has for the name.
export function paint(frame, name, ranges) {
  const view = frame?.contentWindow;
  if (!view?.CSS?.highlights) return;
  if (ranges.length) view.CSS.highlights.set(name, new view.Highlight(...ranges));
  else view.CSS.highlights.delete(name);
}

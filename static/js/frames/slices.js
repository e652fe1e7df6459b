// A long page is laid out in slices, so that a key never waits for the layout of a whole page. Blocks that are not laid out
// yet are not displayed.
const FIRST = 20_000; // characters of text: some screens
const SLICE = 40_000; // laid out in about 30 ms
const LATER = "data-topkapi-later";
const BOXES = new Set("ARTICLE ASIDE BLOCKQUOTE CENTER DIV DL FOOTER FORM HEADER MAIN NAV OL SECTION UL".split(" "));
const BLOCKS = new Set([...BOXES, ..."ADDRESS DD DETAILS DT FIGURE H1 H2 H3 H4 H5 H6 HR LI P PRE TABLE".split(" ")]);
const waiting = new WeakMap(); // document -> its blocks that are not displayed yet, the last one first

const hasText = (box) => [...box.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());

// Return the blocks of a box with their sizes. A long block that only holds other blocks is replaced by these.
function blocksOf(box) {
  return [...box.children].filter(({ nodeName }) => BLOCKS.has(nodeName)).flatMap((block) => {
    const size = block.textContent.length;
    const inner = size > FIRST && BOXES.has(block.nodeName) && !hasText(block) ? blocksOf(block) : [];
    return inner.length ? inner : [{ block, size }];
  });
}

function hide(page, blocks) {
  const sheet = new page.defaultView.CSSStyleSheet();
  sheet.replaceSync(`[${LATER}] { display: none !important; }`);
  page.adoptedStyleSheets = [...page.adoptedStyleSheets, sheet];
  for (const { block } of blocks) block.setAttribute(LATER, "");
}

// Display only the first slice of a page that is not laid out yet; a page whose text is not in blocks stays whole.
export function fold(page) {
  if (!page?.body || page.body.textContent.length <= FIRST || hasText(page.body)) return;
  const blocks = blocksOf(page.body);
  hide(page, blocks);
  waiting.set(page, blocks.reverse());
  unfold(page, FIRST);
}

export const isFolded = (page) => waiting.has(page);

// Display the next slice, or up to `most` characters.
export function unfold(page, most = SLICE) {
  const blocks = waiting.get(page);
  if (!blocks) return;
  for (let shown = 0; blocks.length && shown < most;) {
    const { block, size } = blocks.pop();
    block.removeAttribute(LATER);
    shown += size;
  }
  if (!blocks.length) waiting.delete(page);
}

// Tells whether a page shows nothing, although it holds text: hidden, covered, or in the colour of its background.
import { textOf } from "./page_text.js";

const MOST = 40; // texts, and pictures, that are looked at; of most pages the first one is seen
const SAME = 12; // of 255: colours that differ by less look the same
const PICTURES = "img, svg, canvas, video, object, embed, input, button";

const styleOf = (element) => element.ownerDocument.defaultView.getComputedStyle(element);

// Return red, green, blue and opacity of a colour; null for a colour that is written in another way.
function channels(colour) {
  const numbers = /^rgba?\(([^)]+)\)$/.exec(colour)?.[1].split(/[,/ ]+/).filter(Boolean).map(Number);
  return numbers ? [...numbers.slice(0, 3), numbers[3] ?? 1] : null;
}

function isOpaque(element) {
  const { backgroundColor, backgroundImage } = styleOf(element);
  return element.matches(PICTURES) || backgroundImage !== "none" || (channels(backgroundColor)?.[3] ?? 1) > 0.9;
}

// Return the elements under a point down to `element`, which is the last one; null if something opaque covers it.
function beneath(element, x, y) {
  const all = element.ownerDocument.elementsFromPoint(x, y);
  const at = all.findIndex((each) => each === element || element.contains(each));
  return at < 0 || all.slice(0, at).some(isOpaque) ? null : all.slice(at);
}

function isReadable(element, behind) {
  const ink = channels(styleOf(element).color);
  const ground = behind.find(isOpaque);
  if (!ink || (ground && styleOf(ground).backgroundImage !== "none")) return true;
  const paper = ground ? channels(styleOf(ground).backgroundColor) : [255, 255, 255];
  return ink[3] > 0.1 && (!paper || [0, 1, 2].some((index) => Math.abs(ink[index] - paper[index]) >= SAME));
}

// Return whether something that is not cut off is seen at the beginning of its box, as far as that is in the page.
function isSeen(element, { left, right, top, bottom }) {
  const view = element.ownerDocument.defaultView;
  const [width, height] = [right - Math.max(left, 0), bottom - Math.max(top, 0)];
  const [x, y] = [Math.max(left, 0) + Math.min(width, 20) / 2, Math.max(top, 0) + Math.min(height, 20) / 2];
  if (width < 2 || height < 4 || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) return false;
  const isOutside = x >= view.innerWidth || y >= view.innerHeight;
  const behind = isOutside ? [element] : beneath(element, x, y);
  return Boolean(behind) && (element.matches(PICTURES) || isReadable(element, behind));
}

// Return whether a box that stays where it is hides the window, and most of the text is not in it.
function isCovered(page, length) {
  const { innerWidth, innerHeight } = page.defaultView;
  const at = (x, y) => page.elementsFromPoint(x * innerWidth, y * innerHeight).find((each) => styleOf(each).position === "fixed" && isOpaque(each));
  const cover = at(0.5, 0.5);
  if (!cover || 2 * cover.textContent.length >= length) return false;
  return [0.1, 0.5, 0.9].every((x) => [0.1, 0.5, 0.9].every((y) => at(x, y) === cover));
}

// Resolve with the elements of which no box and no clip path cuts off everything, also outside the window.
function uncut(page, elements) {
  return new Promise((resolve) => {
    if (!elements.length) resolve(new Set());
    const observer = new page.defaultView.IntersectionObserver((entries) => {
      observer.disconnect();
      resolve(new Set(entries.filter(({ intersectionRect: { width, height } }) => width >= 2 && height >= 4).map(({ target }) => target)));
    }, { root: page, rootMargin: "10000000px" });
    elements.forEach((element) => observer.observe(element));
  });
}

const spread = (all) => all.filter((_, index) => index % Math.ceil(all.length / MOST) === 0);

// Marks of terms have colours of their own.
const isOwn = (node) => !node.parentElement.closest("mark[data-mark]");

// Return what to look at, pictures first, each as its element and a function that returns its box.
function thingsIn(page, parts) {
  const pictures = spread([...page.querySelectorAll("img, svg, canvas")]).map((element) => [element, () => element.getBoundingClientRect()]);
  const range = page.createRange();
  const texts = spread(parts.map(({ node }) => node).filter(({ data }) => data.trim())).filter(isOwn).map((node) => [node.parentElement, () => {
    range.selectNodeContents(node);
    return range.getClientRects()[0];
  }]);
  return [...pictures, ...texts];
}

// Resolve with whether a page shows nothing of what it holds. A look takes longer the more a page holds, so there are few, and
// keys come between them.
export async function showsNothing(page) {
  if (!page?.body || page.documentElement.dataset.problem) return false;
  const { text, parts } = textOf(page);
  const length = text.trim().length;
  if (!length || page.documentElement.scrollTop > 0) return false; // it has been read
  if (isCovered(page, length)) return true;
  const things = thingsIn(page, parts);
  const shown = await uncut(page, things.map(([element]) => element));
  for (const [element, boxOf] of things) {
    if (!shown.has(element)) continue;
    const box = boxOf();
    if (box && isSeen(element, box)) return false;
    await new Promise((resolve) => { setTimeout(resolve); });
    if (!page.defaultView) return false; // it has gone
  }
  return true;
}

// The panes with the pages or lists. One is active: it has a ring and aria-current, and the reading keys scroll it.
const STEP = 64; // px per key press, about three lines
const SCREEN = 0.88; // a screen, with two lines of overlap
const stage = document.getElementById("main");
const panes = [...stage.querySelectorAll(".pane")];
const form = document.getElementById("answers");
const actions = new Map(Object.entries(JSON.parse(form?.dataset.keys ?? "{}")).map(([action, key]) => [key, action]));
const tops = new WeakMap(); // scrolled element -> scrollTop when it was last seen
let active = panes[0];
let switched = () => {};

const isReading = (action) => action === "switch" || action in MOVES;
export const actionOf = (name) => (isReading(actions.get(name)) ? actions.get(name) : /^[1-9]$/.test(name) ? name : null);
export const activePane = () => active;
export const all = () => panes;
export const frameIn = (pane) => pane.querySelector("iframe:not(.frame--next)");

const isScrolled = (element) => element.scrollHeight > element.clientHeight + 1;
const overflows = (element, axis) => /auto|scroll|overlay/.test(element.ownerDocument.defaultView.getComputedStyle(element)[`overflow${axis}`]);

// Return the element of a frame that scrolls: the page, or the largest box in it if the page itself does not.
function scrollerOf(frame) {
  const page = frame?.contentDocument;
  const root = page?.scrollingElement ?? page?.documentElement;
  if (!root || isScrolled(root)) return root ?? null;
  const boxes = [...page.querySelectorAll("body, main, article, section, div")].filter((box) => isScrolled(box) && overflows(box, "Y"));
  return boxes.sort((one, other) => other.clientHeight * other.clientWidth - one.clientHeight * one.clientWidth)[0] ?? root;
}

// Return what holds the text of a pane: the document of its frame, or its list.
export const contentOf = (pane) => frameIn(pane)?.contentDocument ?? pane.querySelector(".pane__scroll");

export function scroller(pane) {
  return scrollerOf(frameIn(pane)) ?? pane.querySelector(".pane__scroll");
}

// Return whether an element of a page is inside something that scrolls sideways.
export function scrollsSideways(element) {
  for (let box = element; box?.nodeType === Node.ELEMENT_NODE; box = box.parentElement) {
    const isRoot = box === box.ownerDocument.documentElement;
    if (box.scrollWidth > box.clientWidth + 1 && (isRoot || overflows(box, "X"))) return true;
  }
  return false;
}

function reader() {
  const dialog = document.getElementById("reader");
  return dialog?.open ? scrollerOf(dialog.querySelector("iframe")) : null;
}

const MOVES = {
  down: () => STEP,
  up: () => -STEP,
  screen_down: (box) => SCREEN * box.clientHeight,
  screen_up: (box) => -SCREEN * box.clientHeight,
  home: (box) => -box.scrollHeight,
  end: (box) => box.scrollHeight,
};

// Do what a reading key says; returns false if there is nothing to do, so that the key keeps its usual effect.
export function act(action, isRepeated) {
  if (!active && !reader()) return false; // a page without panes
  if (action === "switch") {
    if (panes.length < 2 || !active.isConnected || reader()) return false;
    if (!isRepeated) toggle();
    return true;
  }
  if (/^[1-9]$/.test(action)) return reader() ? false : open(Number(action));
  if (!reader()) uncover(action);
  const box = reader() ?? (active.isConnected ? scroller(active) : null);
  box?.scrollBy({ top: MOVES[action](box), behavior: "instant" });
  return Boolean(box);
}

// Open a result of the active list by its number.
function open(number) {
  const link = active.querySelectorAll(".results a[data-page]")[number - 1];
  link?.click();
  return Boolean(link);
}

// In a very short window the page itself scrolls: reading brings the pages into sight, and above their top the header.
function uncover(action) {
  const root = document.documentElement;
  if (root.scrollHeight <= root.clientHeight + 1) return;
  const isBack = ["up", "screen_up", "home"].includes(action) && !scroller(active)?.scrollTop;
  if (isBack) root.scrollTo({ top: 0, behavior: "instant" });
  else stage.scrollIntoView({ block: "start", behavior: "instant" });
}

export function activate(pane) {
  if (!pane || pane === active) return;
  active = pane;
  mark();
  switched(pane);
}

function toggle() {
  if (document.activeElement?.tagName === "IFRAME") { document.activeElement.blur(); window.focus(); }
  activate(panes[1 - panes.indexOf(active)]);
  const label = active.getAttribute("aria-label");
  document.getElementById("announce").textContent = `${label} is active.`;
}

function mark() {
  if (panes.length < 2) return;
  for (const pane of panes) {
    if (pane === active) pane.setAttribute("aria-current", "true");
    else pane.removeAttribute("aria-current");
  }
}

export const paneOf = (frame) => frame.closest(".pane");

// A frame has no visible focus of its own, so its pane shows it.
export function showFocus(frame, isFocused) {
  const pane = paneOf(frame) ?? frame.closest(".reader");
  pane?.toggleAttribute("data-focused", isFocused);
  if (isFocused) activate(paneOf(frame));
}

// Leave a frame that has focus: after an answer it may be hidden, and keys would go nowhere.
export function leaveFrames() {
  if (document.activeElement?.tagName !== "IFRAME" || document.activeElement.closest("dialog")) return;
  document.activeElement.blur();
  window.focus();
}

export function clearSelections() {
  for (const frame of document.querySelectorAll("iframe:not(.frame--next)")) frame.contentDocument?.getSelection()?.removeAllRanges();
}

// With linked scrolling, a pane that the person scrolls takes the other one along.
export function follow(pane) {
  if (!pane || panes.length < 2) return;
  const [box, other] = [scroller(pane), scroller(panes[1 - panes.indexOf(pane)])];
  if (!box) return;
  const moved = box.scrollTop - (tops.get(box) ?? box.scrollTop);
  tops.set(box, box.scrollTop);
  if (!isLinked() || !other || !moved) return;
  other.scrollBy({ top: moved, behavior: "instant" });
  tops.set(other, other.scrollTop);
}

// Remember where both panes are, after pages were exchanged or scrolled by the program.
export function settlePanes() {
  if (!isLinked()) return; // measuring costs a layout
  for (const box of panes.map(scroller)) if (box) tops.set(box, box.scrollTop);
}

const linkButton = document.getElementById("link");
const isLinked = () => linkButton?.getAttribute("aria-pressed") === "true";

export function wirePanes({ onSwitch, linked, onLink }) {
  switched = onSwitch;
  linkButton?.setAttribute("aria-pressed", String(linked));
  linkButton?.addEventListener("click", () => {
    linkButton.setAttribute("aria-pressed", String(!isLinked()));
    settlePanes();
    onLink(isLinked());
  });
  for (const pane of panes) {
    for (const name of ["pointerdown", "wheel", "focusin"]) pane.addEventListener(name, () => activate(pane), { passive: true });
    pane.addEventListener("scroll", () => follow(pane), { capture: true, passive: true });
  }
  mark();
}

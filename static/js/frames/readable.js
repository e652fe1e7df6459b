// Keeps stored pages readable. The server's style unlocks scrolling; what depends on how a page is laid out is done here.
const CLIPPED = 1.2; // content of at least this many times the height of its box is cut off
const BOXES = "body, main, article, section, div, form";

const force = (element, styles) => Object.entries(styles).forEach(([name, value]) => element.style.setProperty(name, value, "important"));

// Show a page that is displayed or placed only by its scripts.
function place(page) {
  const { display, position } = page.defaultView.getComputedStyle(page.body);
  if (display === "none") force(page.body, { display: "block" });
  if (position === "fixed" || position === "absolute") force(page.body, { position: "relative", inset: "auto" });
}

// Let boxes that fill the frame and cut off their content grow to its height, if the page itself scrolls no further.
function unclip(page) {
  const { scrollHeight, clientHeight } = page.documentElement;
  if (scrollHeight > CLIPPED * clientHeight) return;
  for (const box of page.querySelectorAll(BOXES)) {
    if (box.clientHeight < clientHeight / 2 || box.scrollHeight < CLIPPED * box.clientHeight) continue;
    if (box === page.body || /hidden|clip/.test(page.defaultView.getComputedStyle(box).overflowY)) force(box, { "min-height": "max-content", "max-height": "none" });
  }
}

for (const name of ["ready", "whole"]) {
  document.addEventListener(name, ({ target: frame }) => {
    const page = frame.contentDocument;
    if (page?.body?.nodeName !== "BODY" || !page.URL.includes("/pages/")) return;
    place(page);
    if (name === "whole" || !frame.classList.contains("frame--next")) unclip(page);
  });
}

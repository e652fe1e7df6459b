// The text of a page instead of the page, in the same frame: by its key for the active page, and offered where a page
// shows nothing. A page that is read as text stays so whenever it comes again.
import { showsNothing } from "./blank.js";
import { adopt, delay, isShown } from "../frames/frames.js";
import * as panes from "../screen/panes.js";

const asText = new Set(); // names of pages
const looks = new WeakMap(); // page -> the look at it: a promise
const blank = new Map(); // rendering of a page -> whether it shows nothing
const isText = (frame) => frame.dataset.view === "text";

// Replace the frame by one that shows the other view. A new frame leaves no entry in the history of the tab.
function turn(frame) {
  const other = frame.cloneNode(false);
  const address = new URL(frame.src);
  if (isText(frame)) delete other.dataset.view;
  else other.dataset.view = "text";
  address.search = isText(frame) ? "" : "?view=text";
  delete other.dataset.shows;
  other.src = address.href;
  delay(other);
  adopt(other);
  frame.closest(".pane")?.toggleAttribute("data-text", !isText(frame));
  frame.replaceWith(other);
  window.focus();
}

function toggle(frame) {
  if (!frame) return;
  if (isText(frame)) asText.delete(frame.dataset.name);
  else if (frame.dataset.name) asText.add(frame.dataset.name);
  document.getElementById("announce")?.replaceChildren(isText(frame) ? "The page itself is shown." : "The page is shown as text.");
  turn(frame);
}

const offerIn = (frame) => frame.parentElement.querySelector(".as-text");

function offer(frame) {
  const note = Object.assign(document.createElement("div"), { className: "notice notice--warn as-text" });
  note.setAttribute("role", "status");
  const button = Object.assign(document.createElement("button"), { className: "btn btn--small", type: "button", textContent: "Show its text" });
  button.addEventListener("click", () => toggle(frame));
  const words = Object.assign(document.createElement("div"), { textContent: "This page shows little or nothing. Its text is stored." });
  note.append(words, button);
  frame.after(note);
}

const isThere = (frame) => isShown(frame) && frame.isConnected;

const renderingOf = (frame) => `${frame.dataset.key || frame.src} ${isText(frame)}`;

// Offer the text of a page that shows nothing. Looking for that lays the page out, so it waits until nothing else is to do.
async function look(frame) {
  const page = frame.contentDocument;
  if (!isThere(frame) || page === null) return;
  if (!blank.has(renderingOf(frame))) {
    if (!looks.has(page)) looks.set(page, showsNothing(page));
    blank.set(renderingOf(frame), await looks.get(page));
  }
  if (!isThere(frame) || frame.contentDocument !== page) return;
  frame.dataset.shows = blank.get(renderingOf(frame)) ? "nothing" : "something";
  if (blank.get(renderingOf(frame)) && !offerIn(frame)) offer(frame);
}

// Show each page as the person reads it.
function check(frame) {
  if (!isThere(frame)) return;
  offerIn(frame)?.remove();
  if (frame.dataset.name && asText.has(frame.dataset.name) !== isText(frame)) turn(frame);
  else requestIdleCallback(() => look(frame), { timeout: 1000 });
}

export const checkPages = () => panes.all().map(panes.frameIn).filter(Boolean).forEach(check);

document.addEventListener("ready", ({ target: frame }) => requestAnimationFrame(() => check(frame)));
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-text-view]")) return;
  const pane = panes.activePane();
  toggle(document.querySelector("#reader[open] iframe") ?? (pane ? panes.frameIn(pane) : null));
});

// The parts of the page that change with the question, and the screen shown during a pause.
import { closeAll } from "../notices/dialogs.js";
import { delay } from "../frames/frames.js";
import { fold } from "../screen/header.js";
import * as memory from "../frames/memory.js";
import * as pool from "../frames/pool.js";

const form = document.getElementById("answers");
const stage = document.getElementById("main");
const boxes = [...stage.querySelectorAll(".frames")];
const away = document.createDocumentFragment(); // holds the pages while the clock is paused
const PARTS = ["progress", "panetabs", "entry", "left-title", "right-title", "page-title", "left-count", "right-count", "left-list", "right-list"];

export { boxes, form, stage };

const part = (id) => document.getElementById(id) ?? away.getElementById(id);

// Return the identity of the question in a fragment, as a string to compare.
export function identity(fragment) {
  const entry = fragment.querySelector("#entry");
  if (!entry) return null;
  const inputs = [...entry.querySelectorAll("input")].map((input) => `${input.name}=${input.value}`);
  return [entry.dataset.state, ...inputs].join("&");
}

export const shown = () => identity(form);

// Return the items that the open question is about, whatever its position in the log.
const inputs = () => [...form.querySelectorAll("#entry input:not([name=position])")].map((input) => `${input.name}=${input.value}`);
export const items = () => inputs().join("&");
export const position = (fragment = form) => Number(fragment.querySelector("#entry [name=position]").value);
export const isFinished = (fragment) => (fragment.querySelector("#entry")?.dataset.state ?? "asking") !== "asking";

export function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

// Show a question. Buttons stay in the document; only the parts that change are replaced.
export function show(fragment) {
  const before = inputs();
  for (const id of PARTS) {
    const fresh = fragment.querySelector(`#${id}`);
    if (fresh) part(id)?.replaceWith(document.importNode(fresh, true));
  }
  fold(Number(part("progress").getAttribute("aria-valuenow")));
  pool.show(boxes, boxes.map((box) => fragment.querySelector(`#${box.id} iframe`)));
  restoreLists();
  markChanged(before);
  announce();
}

// Show the progress of the team; nothing else changes while the person reads.
export const showProgress = (fragment) => part("progress").replaceWith(fragment.querySelector("#progress"));

// Mark the panes whose page or list is another one than before. Two names in turn restart the animation.
function markChanged(before) {
  const panes = [...stage.querySelectorAll(".pane"), ...away.querySelectorAll(".pane")];
  inputs().forEach((input, at) => {
    if (input === before[at]) delete panes[at].dataset.changed;
    else panes[at].dataset.changed = panes[at].dataset.changed === "1" ? "2" : "1";
  });
}

// Lists that were shown before are where the person left them.
const lists = () => ["left", "right"].map((side) => [`list ${form.querySelector(`#entry [name=${side}]`)?.value}`, document.getElementById(`${side}-list`)]);
export const restoreLists = () => lists().forEach(([name, list]) => memory.restore(name, list));
stage.addEventListener("scroll", (event) => lists().forEach(([name, list]) => { if (event.target === list) memory.note(name, list); }), { capture: true, passive: true });

function pageNamed(box) {
  const title = part(box.id.replace("-frames", "-title"));
  const side = { "left-frames": "Left: ", "right-frames": "Right: " }[box.id] ?? "";
  return `${side}${title.querySelector("h2").textContent}${title.querySelector(".badge--new") ? ", new" : ""}.`;
}

function listNamed([, list], at) {
  const titles = [...list.querySelectorAll("h3")].map((title) => title.textContent.trim());
  return `${["Left", "Right"][at]} list, ${titles.length} results: ${titles.slice(0, 3).join("; ")}.`;
}

// Tell a screen reader what is asked now.
export function announce() {
  const named = boxes.length ? boxes.map(pageNamed) : lists().filter(([, list]) => list).map(listNamed);
  const answered = part("progress").getAttribute("aria-valuenow");
  document.getElementById("announce").textContent = `Question ${Number(answered) + 1}. ${named.join(" ")}`;
}

const submits = () => [...document.querySelectorAll("#answers button[type=submit], button[form=answers]"), ...away.querySelectorAll("button[form=answers]")];

// Enable or disable the answers; undo and redo only if there is something to undo or redo.
export function enable(on, pressed = null) {
  const { undo, redo } = form.querySelector("#entry").dataset;
  for (const button of submits()) {
    const has = button.value === "undo" ? undo === "1" : button.value === "redo" ? redo === "1" : true;
    button.disabled = button !== pressed && !(on && has);
    if (button !== pressed) button.removeAttribute("aria-pressed");
  }
  form.querySelector("[commandfor=note]").disabled = !on && !pressed;
}

// For a moment the pressed button is filled, and the pane that it prefers has a ring and a tint (--felt).
export function press(button) {
  const pane = button.name === "answer" ? document.getElementById(/^(left|right)(_much)?$/.exec(button.value)?.[1]) : null;
  button.setAttribute("aria-pressed", "true");
  pane?.setAttribute("data-chosen", "");
  setTimeout(() => {
    pane?.removeAttribute("data-chosen");
    if (!form.dataset.saving) button.removeAttribute("aria-pressed");
  }, 120);
}

// Show that an answer was not taken, because nobody can have seen the pages yet.
export function refuse(button) {
  button.dataset.refused = "1";
  document.getElementById("announce").textContent = "This answer was not counted: the pages were not yet shown.";
  setTimeout(() => delete button.dataset.refused, 300);
}

// Keep the pressed answer highlighted until the reply; show that it is being saved if that takes long.
export function saving(button) {
  form.dataset.saving = "1";
  enable(false, button);
  setTimeout(() => form.classList.toggle("answers--saving", Boolean(form.dataset.saving)), 400);
}

export function saved() {
  delete form.dataset.saving;
  form.classList.remove("answers--saving");
}

let swiped = 0; // how far the strip of pages was scrolled sideways before the pause

// Remove the pages from the document, not only from view, and show the pause screen.
export function curtain(time, why) {
  swiped = stage.querySelector(".split").scrollLeft;
  away.append(...stage.querySelectorAll(".panetabs, .split"));
  away.querySelectorAll(".frames iframe").forEach(delay); // they load again afterwards
  const node = document.importNode(document.getElementById("paused").content, true);
  node.querySelector("[data-slot=time]").textContent = time;
  node.querySelector("[data-slot=why]").textContent = why;
  stage.prepend(node);
  closeAll();
  stage.querySelector("#resume").focus();
  clockFace(true);
}

export function unveil() {
  stage.querySelector(".paused").remove();
  stage.prepend(away);
  stage.querySelector(".split").scrollLeft = swiped;
  restoreLists();
  clockFace(false);
}

function clockFace(paused) {
  const clock = document.getElementById("clock");
  clock.classList.toggle("clock--paused", paused);
  clock.querySelector("#pause").hidden = paused;
  clock.querySelector(".badge").hidden = !paused;
}

// The parts of the page that change with the question, and the screen shown during a pause.
import * as pool from "./pool.js";

const form = document.getElementById("answers");
const stage = document.getElementById("main");
const boxes = [...stage.querySelectorAll(".frames")];
const away = document.createDocumentFragment(); // holds the pages while the clock is paused
const PARTS = ["progress", "panetabs", "entry", "left-title", "right-title", "page-title", "left-count", "right-count", "left-list", "right-list"];
const scrolls = new Map(); // list -> scrollTop when it was removed

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
export const position = () => form.querySelector("#entry [name=position]").value;
export const isFinished = (fragment) => fragment.querySelector("#entry")?.dataset.state === "finished";

export function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

// Show a question. Buttons stay in the document; only the parts that change are replaced.
export function show(fragment) {
  for (const id of PARTS) {
    const fresh = fragment.querySelector(`#${id}`);
    if (fresh) part(id)?.replaceWith(document.importNode(fresh, true));
  }
  pool.show(boxes, boxes.map((box) => fragment.querySelector(`#${box.id} iframe`)));
  announce();
}

function announce() {
  const titles = boxes.map((box) => {
    const title = part(box.id.replace("-frames", "-title"));
    const side = { "left-frames": "Left: ", "right-frames": "Right: " }[box.id] ?? "";
    return `${side}${title.querySelector("h2").textContent}${title.querySelector(".badge--new") ? ", new" : ""}.`;
  });
  const answered = part("progress").getAttribute("aria-valuenow");
  document.getElementById("announce").textContent = `Question ${Number(answered) + 1}. ${titles.join(" ")}`;
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
  form.querySelector("[popovertarget=note]").disabled = !on && !pressed;
}

export function press(button) {
  button.setAttribute("aria-pressed", "true");
  setTimeout(() => { if (!form.dataset.saving) button.removeAttribute("aria-pressed"); }, 90);
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

// A dot on the button shows that a note will be sent with the next answer.
const note = form.elements.note;
const markNote = () => form.querySelector("[popovertarget=note]").toggleAttribute("data-filled", note.value.trim() !== "");
note.addEventListener("input", markNote);

export function clearNote() {
  note.value = "";
  markNote();
}

// Remove the pages from the document, not only from view, and show the pause screen.
export function curtain(time, why) {
  pool.noteScrolls(boxes);
  stage.querySelectorAll(".pane__scroll").forEach((list) => scrolls.set(list, list.scrollTop));
  away.append(...stage.querySelectorAll(".panetabs, .split"));
  const node = document.importNode(document.getElementById("paused").content, true);
  node.querySelector("[data-slot=time]").textContent = time;
  node.querySelector("[data-slot=why]").textContent = why;
  stage.prepend(node);
  document.querySelector(":popover-open")?.hidePopover();
  stage.querySelector("#resume").focus();
  clockFace(true);
}

export function unveil() {
  stage.querySelector(".paused").remove();
  stage.prepend(away);
  scrolls.forEach((top, list) => { list.scrollTop = top; });
  scrolls.clear();
  clockFace(false);
}

function clockFace(paused) {
  const clock = document.getElementById("clock");
  clock.classList.toggle("clock--paused", paused);
  clock.querySelector("#pause").hidden = paused;
  clock.querySelector(".badge").hidden = !paused;
}

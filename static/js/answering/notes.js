// Notes and flags: every question has drafts of its own, kept in this browser until they are sent.
import * as notices from "../notices/notices.js";
import { keep, load } from "../offline/store.js";

function drafts(kind, fieldId, dialog) {
  const texts = load(kind, {}); // question -> text
  const button = document.querySelector(`[commandfor=${dialog}]`);
  const field = () => document.getElementById(fieldId);
  let question = null;

  // A dot on the button shows that there is a draft.
  const mark = () => button.toggleAttribute("data-filled", field().value.trim() !== "");
  const store = () => keep(kind, texts, Object.keys(texts).length === 0);

  function open(name) {
    question = name;
    field().value = texts[name] ?? "";
    mark();
  }

  function sent(name = question) {
    delete texts[name];
    store();
    if (name === question) open(name);
  }

  function offer(name, text) {
    if (!text || name in texts) return;
    texts[name] = text;
    store();
    if (name === question) open(name);
  }

  document.addEventListener("input", ({ target }) => {
    if (target !== field()) return;
    texts[question] = target.value;
    store();
    mark();
  });
  return { open, sent, offer };
}

const notes = drafts("notes", "note-text", "note");
const flags = drafts("flags", "flag-reason", "flag");
const flagForm = () => document.getElementById("flag-form");
let shown = null; // the question on the screen
let flagged = null; // the question whose flag is on the way

export function open(name) {
  shown = name;
  notes.open(name);
  flags.open(name);
  flagForm().querySelectorAll(".notice, .error").forEach((old) => { old.hidden = true; }); // about another question
}

// Keep the note of an answer that was taken back or refused, unless the person has written another one since.
export const { offer } = notes;

// The question was answered, and its note is on the way.
export const sent = () => notes.sent();

document.addEventListener("htmx:beforeRequest", (event) => { if (event.target === flagForm()) flagged = shown; });
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target !== flagForm()) return;
  const dialog = document.getElementById("flag");
  if (flagForm().querySelector(".notice--good")) {
    flags.sent(flagged);
    if (dialog.dataset.closes) { dialog.close(); notices.tell("flagged"); }
  }
  delete dialog.dataset.closes;
  if (flagged !== shown) open(shown);
});
document.addEventListener("htmx:sendError", (event) => { if (event.target === flagForm()) flagForm().querySelector("[data-unsent]").hidden = false; });

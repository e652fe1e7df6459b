// Notes: every question has a draft of its own, kept in this browser until the question is answered.
import { keep, load } from "./store.js";

const form = document.getElementById("answers");
const field = form.elements.note;
const button = form.querySelector("[commandfor=note]");
const drafts = load("notes", {}); // question -> text
let question = null;

// A dot on the button shows that a note will be sent with the answer.
const mark = () => button.toggleAttribute("data-filled", field.value.trim() !== "");
const store = () => keep("notes", drafts, Object.keys(drafts).length === 0);

export function open(name) {
  question = name;
  field.value = drafts[name] ?? "";
  mark();
}

// Keep the note of an answer that was taken back or refused, unless the person has written another one since.
export function offer(name, text) {
  if (!text || name in drafts) return;
  drafts[name] = text;
  store();
  if (name === question) open(name);
}

// The question was answered, and its note is on the way.
export function sent() {
  delete drafts[question];
  store();
  field.value = "";
  mark();
}

field.addEventListener("input", () => {
  drafts[question] = field.value;
  store();
  mark();
});

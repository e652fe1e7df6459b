// What a person leaves in this browser for one assignment: unsent answers, drafts of notes, reading positions. Each is
// stored under the account and the assignment, so that nobody else who signs in here sends or sees it.
const form = document.getElementById("answers");
const { assignment = "", user = "" } = form?.dataset ?? {};
const nameOf = (kind) => `topkapi-${kind}-${user}-${assignment}`;

export function load(kind, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(nameOf(kind)) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(kind, value, isEmpty = false) {
  if (!assignment) return false; // practice and opened pages leave nothing
  try {
    if (isEmpty) localStorage.removeItem(nameOf(kind));
    else localStorage.setItem(nameOf(kind), JSON.stringify(value));
    return true;
  } catch {
    return false; // storage is full or switched off; everything works until the page is closed
  }
}

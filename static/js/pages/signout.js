// At sign-out, delete what the person left in this browser: drafts of notes, marks, reading positions. Unsent answers stay
// and are sent after the next sign-in; the person is told first.
const KINDS = ["notes", "passages", "places", "opened"];

const keysOf = (kind, user) => Object.keys(localStorage).filter((key) => key.startsWith(`topkapi-${kind}-${user}-`));

function countIn(key) {
  try { return JSON.parse(localStorage.getItem(key)).length; } catch { return 0; }
}

function leave(event) {
  const { user } = event.target.dataset;
  const unsent = keysOf("outbox", user).map(countIn).reduce((sum, count) => sum + count, 0);
  const what = unsent === 1 ? "One answer is" : `${unsent} answers are`;
  if (unsent && !confirm(`${what} stored in this browser and not saved yet. They are sent when you sign in here again. Sign out now?`)) {
    event.preventDefault();
    return;
  }
  KINDS.flatMap((kind) => keysOf(kind, user)).forEach((key) => localStorage.removeItem(key));
}

for (const form of document.querySelectorAll("form[data-sign-out]")) {
  form.addEventListener("submit", (event) => {
    try { leave(event); } catch { /* without storage nothing was left */ }
  });
}

// What was opened before the scripts were there is loaded as soon as they are.
document.addEventListener("htmx:load", ({ target }) => {
  for (const opened of target.querySelectorAll("details[open][hx-get]")) opened.dispatchEvent(new Event("toggle"));
});

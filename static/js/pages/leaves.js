// While the next page loads, the one that is left asks no more: each reply would begin to load the next one again.
document.addEventListener("htmx:beforeOnLoad", ({ target, detail }) => {
  if (detail.xhr.getResponseHeader("HX-Redirect")) target.replaceWith(target.cloneNode(true));
});

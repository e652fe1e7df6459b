// Enter goes on, unless something else has the focus.
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.repeat || event.target !== document.body) return;
  document.querySelector("[data-enter]")?.click();
});

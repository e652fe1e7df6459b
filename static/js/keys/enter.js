// Enter presses the main button or link, unless another element has focus.
addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.repeat || event.target !== document.body) return;
  document.querySelector("[data-enter]")?.click();
});

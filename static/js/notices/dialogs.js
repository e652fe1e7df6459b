// Dialogs are modal: the rest of the page is inert, and a click outside or Esc closes them and does nothing else. Buttons
// open and close them by `command`; browsers without it get the same here.
export const openDialog = () => [...document.querySelectorAll("dialog[open]")].at(-1) ?? null;

export const closeAll = () => document.querySelectorAll("dialog[open]").forEach((dialog) => dialog.close());

// Focus returns to where it was. A frame keeps some keys for itself and a closed dialog has none: the document gets them.
document.addEventListener("close", () => {
  if (openDialog() || !document.activeElement?.closest("iframe, dialog")) return;
  document.activeElement.blur();
  window.focus();
}, true);

if (!("command" in HTMLButtonElement.prototype)) {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[commandfor]");
    const dialog = document.getElementById(button?.getAttribute("commandfor"));
    if (dialog) dialog[button.getAttribute("command") === "close" ? "close" : "showModal"]();
  });
}

// On the finished page the keys of the judging page take the last answer back and open the answers.
import { openDialog } from "../notices/dialogs.js";
import { namesOf } from "../keys/keys.js";

addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || openDialog()) return;
  const names = namesOf(event);
  [...document.querySelectorAll("main [aria-keyshortcuts]")].find((control) => names.includes(control.getAttribute("aria-keyshortcuts")) && !("enter" in control.dataset))?.click();
});

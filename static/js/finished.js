// On the finished page the key for Undo takes the last answer back, as on the judging page: the query is open again.
import { openDialog } from "./dialogs.js";
import { namesOf } from "./keys.js";

addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || openDialog()) return;
  const undo = document.querySelector("button[value=undo]");
  if (undo && namesOf(event).includes(undo.getAttribute("aria-keyshortcuts"))) undo.click();
});

// A result opened from a list: its stored page in a sandboxed frame over the lists, closed with Esc.
import { adopt } from "./frames.js";
import { reading } from "./reading.js";

export function wireReader(stage) {
  const dialog = document.getElementById("reader");
  const split = stage.querySelector("#split[data-size]");
  if (!dialog) return () => {};
  const content = dialog.querySelector(".reader");

  stage.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-page]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-same-origin"); // must be set before the address
    frame.className = `frame${"light" in link.dataset ? " frame--light" : ""}`;
    frame.title = link.textContent;
    frame.src = link.href;
    frame.dataset.name = link.dataset.name;
    adopt(frame);
    dialog.querySelector("h2").textContent = link.textContent;
    content.replaceChildren(frame);
    dialog.showPopover();
  });
  dialog.addEventListener("toggle", (event) => {
    if (event.newState === "closed") content.replaceChildren();
  });
  return () => { split.dataset.size = String(reading.size); };
}

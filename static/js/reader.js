// A result that was opened: its stored page in the same safe frame, over the lists, until Esc.
import { adopt } from "./frames.js";
import { reading } from "./reading.js";

export function wireReader(stage) {
  const sheet = document.getElementById("reader");
  const split = stage.querySelector("#split[data-size]");
  if (!sheet) return () => {};
  const room = sheet.querySelector(".reader");

  stage.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-page]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-same-origin"); // before its address: never a moment without
    frame.className = `frame${"light" in link.dataset ? " frame--light" : ""}`;
    frame.title = link.textContent;
    frame.src = link.href;
    adopt(frame);
    sheet.querySelector("h2").textContent = link.textContent;
    room.replaceChildren(frame);
    sheet.showPopover();
  });
  sheet.addEventListener("toggle", (event) => {
    if (event.newState === "closed") room.replaceChildren();
  });
  return () => { split.dataset.size = String(reading.size); };
}

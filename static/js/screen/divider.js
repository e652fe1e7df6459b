// The divider between the two pages: moved by pointer, or by arrow keys while it has focus.
import { reading, remember } from "./preferences.js";

const STEP = 2;

export function wireDivider(divider) {
  if (!divider) return;
  const split = divider.parentElement;

  const moveTo = (percent) => {
    const whole = Math.round(Math.min(80, Math.max(20, percent)));
    document.documentElement.style.setProperty("--split", `${whole}%`);
    divider.setAttribute("aria-valuenow", String(whole));
    return whole;
  };

  moveTo(reading.split);

  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    split.classList.add("split--dragged"); // otherwise frames receive the pointer events
  });
  divider.addEventListener("pointermove", (event) => {
    if (!divider.hasPointerCapture(event.pointerId)) return;
    const box = split.getBoundingClientRect();
    moveTo((100 * (event.clientX - box.left)) / box.width);
  });
  const drop = () => {
    split.classList.remove("split--dragged");
    remember({ split: Number(divider.getAttribute("aria-valuenow")) });
  };
  divider.addEventListener("pointerup", () => { drop(); divider.blur(); }); // after a drag the arrow keys answer again
  divider.addEventListener("pointercancel", drop);
  divider.addEventListener("dblclick", () => remember({ split: moveTo(50) }));

  divider.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: -STEP, ArrowRight: STEP, Home: -100, End: 100 };
    if (!(event.key in moves) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // while the divider has focus, arrow keys move it and do not answer the question
    remember({ split: moveTo(reading.split + moves[event.key]) });
  });
}

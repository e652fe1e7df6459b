// A practice question: the keys, frames and reader of the judging page, without clock, log and prefetch.
import { wireDivider } from "./divider.js";
import { adopt, listen, setSize } from "./frames.js";
import { onKey, wireKeys } from "./keys.js";
import { wireReader } from "./reader.js";
import { wireSizes } from "./reading.js";
import { wireTabs } from "./tabs.js";

const form = document.getElementById("answers");
const stage = document.getElementById("main");
const frames = [...stage.querySelectorAll(".frames iframe")];
const { answered } = form.dataset;

// After an answer only Next works; the answer that was given stays pressed.
if (answered !== undefined) {
  for (const button of document.querySelectorAll("button[name=answer]")) {
    if (button.value === answered) button.setAttribute("aria-pressed", "true");
    button.disabled = true;
  }
}
wireKeys();
listen({ key: onKey, active() {}, problem() {} });
frames.forEach(adopt);
const resizeLists = wireReader(stage);
wireSizes(() => {
  frames.forEach(setSize);
  resizeLists();
});
wireDivider(document.getElementById("divider"));
if (stage.querySelector(".panetabs")) wireTabs(stage);

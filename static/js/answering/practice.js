// A practice question: the keys, frames and reader of the judging page, without clock, log and prefetch.
import { wireDivider } from "../screen/divider.js";
import { refreshHits, wireFinder } from "../reading/finder.js";
import "../frames/fit.js";
import "../frames/readable.js";
import "../reading/same.js";
import "../reading/text_view.js";
import { adopt, listen, setSize } from "../frames/frames.js";
import { wireHeader } from "../screen/header.js";
import { notePress, onKey, wireKeys } from "../keys/keys.js";
import * as panes from "../screen/panes.js";
import { wireReader } from "../reading/reader.js";
import { isLinked, rememberLinked, wireSizes } from "../screen/preferences.js";
import { wireTabs } from "../screen/tabs.js";

const form = document.getElementById("answers");
const stage = document.getElementById("main");
const frames = [...stage.querySelectorAll(".frames iframe")];
const { answered } = form.dataset;
const known = JSON.parse(form.dataset.known ?? "[]"); // answers; empty as long as the question may be asked again

// After an answer only Next works. The answer that was given stays pressed, in another way if most chose differently, and
// what most chose is marked; a screen reader reads the feedback.
if (answered !== undefined) {
  for (const button of document.querySelectorAll("button[name=answer]")) {
    const isKnown = known.includes(button.value);
    if (button.value === answered) button.setAttribute("aria-pressed", "true");
    button.toggleAttribute("data-missed", button.value === answered && known.length > 0 && !isKnown);
    button.toggleAttribute("data-known", isKnown);
    button.disabled = true;
  }
  setTimeout(() => { document.getElementById("announce").textContent = document.getElementById("verdict").textContent; });
}
wireKeys();
wireFinder();
listen({
  key: onKey,
  press: (event, frame) => { notePress(event); panes.activate(panes.paneOf(frame)); },
  wheel: (frame) => panes.activate(panes.paneOf(frame)),
  focus: panes.showFocus,
  scroll: (frame) => panes.follow(panes.paneOf(frame)),
});
frames.forEach(adopt);
const reader = wireReader(stage);
wireSizes(() => {
  frames.forEach(setSize);
  reader.resize();
  refreshHits();
});
wireHeader();
wireDivider(document.getElementById("divider"));
const tabs = stage.querySelector(".panetabs") ? wireTabs(stage, panes.activate) : { show() {} };
panes.wirePanes({ onSwitch: (pane) => tabs.show(pane), linked: isLinked(), onLink: rememberLinked });

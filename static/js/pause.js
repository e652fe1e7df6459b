// Pausing: by the person, when the tab is hidden, when nothing moves, when the computer slept.
import { curtain, unveil } from "./stage.js";

const time = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const spellSeconds = (seconds) => (seconds % 60 ? `${seconds} seconds` : seconds === 60 ? "a minute" : `${seconds / 60} minutes`);

export function wirePause({ clock, reports, changed, idleSeconds }) {
  const state = { paused: false, left: false, begun: false };
  const words = {
    person: () => "The clock has stopped and the pages are hidden. Nothing is lost.",
    hidden: () => `The clock has stopped and the pages are hidden. You left the tab at ${time()}, so it paused by itself; nothing is lost.`,
    idle: () => `The clock has stopped and the pages are hidden. Nothing moved for ${spellSeconds(idleSeconds)}, so it paused by itself at ${time()}; nothing is lost.`,
    asleep: () => "The clock has stopped and the pages are hidden. The computer was asleep, so it paused by itself; nothing is lost.",
  };

  function pause(reason) {
    if (state.paused || state.left) return;
    state.paused = true;
    changed();
    curtain(clock.text, words[reason]());
    if (state.begun) reports.send(reason === "person" ? "pause" : "auto_pause", reason);
  }

  function resume() {
    state.paused = false;
    unveil();
    changed();
    reports.send("resume");
  }

  state.byItself = pause;
  state.begin = () => {
    state.begun = true;
    if (document.hidden) pause("hidden");
  };

  document.addEventListener("click", (event) => {
    if (event.target.closest("#pause")) pause("person");
    else if (event.target.closest("#resume")) resume();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && state.begun) pause("hidden");
  });
  addEventListener("pagehide", () => {
    if (state.left || !state.begun) return;
    state.left = true;
    clock.stop();
    reports.leave();
  });
  return state;
}

// Signs of someone at work outside the page frames; those inside are heard by the frames.
export function wireActivity(active) {
  for (const sign of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"]) {
    document.addEventListener(sign, active, { capture: true, passive: true });
  }
}

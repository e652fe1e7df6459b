// Pauses: by the person, when the tab is hidden, after inactivity, after the computer slept.
import { curtain, unveil } from "./stage.js";

const time = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const spellSeconds = (seconds) => (seconds % 60 ? `${seconds} seconds` : seconds === 60 ? "one minute" : `${seconds / 60} minutes`);

export function wirePause({ clock, reports, changed, idleSeconds }) {
  const state = { paused: false, left: false, begun: false };
  const texts = {
    person: () => "The clock has stopped and the pages are hidden. Nothing is lost.",
    hidden: () => `The clock has stopped and the pages are hidden. You left this tab at ${time()}, so the clock paused automatically. Nothing is lost.`,
    idle: () => `The clock has stopped and the pages are hidden. There was no activity for ${spellSeconds(idleSeconds)}, so the clock paused automatically at ${time()}. The time since your last activity is not counted. Nothing is lost.`,
    asleep: () => "The clock has stopped and the pages are hidden. The computer was asleep, so the clock paused automatically. Nothing is lost.",
  };

  function pause(reason) {
    if (state.paused || state.left) return;
    state.paused = true;
    changed();
    curtain(clock.text, texts[reason]());
    if (state.begun) reports.send(reason === "person" ? "pause" : "auto_pause", reason);
  }

  function resume() {
    state.paused = false;
    unveil();
    changed();
    reports.send("resume");
  }

  state.automatically = pause;
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

// Activity outside the page frames; frames.js reports activity inside them.
export function wireActivity(active) {
  for (const name of ["pointermove", "pointerdown", "keydown", "wheel", "touchmove"]) {
    document.addEventListener(name, active, { capture: true, passive: true });
  }
}

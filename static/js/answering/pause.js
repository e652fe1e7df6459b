// Pauses: by the person, when the tab is hidden for a while, after inactivity, after the computer slept.
import { curtain, unveil } from "./stage.js";

const time = () => new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
const spellSeconds = (seconds) => (seconds % 60 ? `${seconds} seconds` : seconds === 60 ? "one minute" : `${seconds / 60} minutes`);

const AWAY_MS = 10_000; // a shorter absence stops the clock only, and shows no pause screen on return

export function wirePause({ clock, reports, changed, idleSeconds }) {
  const state = { paused: false, left: false, begun: false };
  let away = null; // while the tab is hidden: when the person left, and the timer of the pause
  const texts = {
    person: () => "The clock has stopped and the pages are hidden. Nothing is lost.",
    hidden: () => `The clock has stopped and the pages are hidden. You left this tab at ${away.time}, so the clock paused automatically. Nothing is lost.`,
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
    if (document.hidden) leave();
  };

  // Time while the tab is hidden is not active time: the clock stops at once (`changed`).
  function leave() {
    away ??= { at: Date.now(), time: time(), timer: setTimeout(() => pause("hidden"), AWAY_MS) };
    changed();
  }

  function comeBack() {
    if (!away) return;
    clearTimeout(away.timer); // timers of a hidden tab may be late
    if (Date.now() - away.at >= AWAY_MS) pause("hidden");
    away = null;
    changed();
  }

  document.addEventListener("click", (event) => {
    if (event.target.closest("#pause")) pause("person");
    else if (event.target.closest("#resume")) resume();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) comeBack();
    else if (state.begun) leave();
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

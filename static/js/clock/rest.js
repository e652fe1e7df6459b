// Suggests a rest after the study's number of minutes at work without a break. The time is kept across queries, per
// person and browser; three minutes without the pages (paused, or on another page) are a break.
import { tell } from "../notices/notices.js";

const TICK_MS = 5000;
const BREAK_MS = 180_000;
const { restMinutes, user } = document.getElementById("answers").dataset;
const limit = 60_000 * Number(restMinutes);
const name = `topkapi-rest-${user}`;

function stored() {
  try { return JSON.parse(localStorage.getItem(name)) ?? {}; } catch { return {}; }
}

function store(state) {
  try { localStorage.setItem(name, JSON.stringify(state)); } catch { /* without storage the reminder starts over */ }
}

const atWork = () => !document.hidden && !document.querySelector(".paused");

function tick() {
  if (!atWork()) return;
  const now = Date.now();
  let { worked = 0, reminded = 0, at = now } = stored();
  if (now - at >= BREAK_MS || at > now) [worked, reminded] = [0, 0];
  else worked += Math.min(now - at, 2 * TICK_MS);
  // The first reminder comes at the limit; without a rest it comes again after a third of it.
  const due = reminded ? reminded + limit / 3 : limit;
  if (worked >= due) {
    reminded = worked;
    tell("rest", { minutes: String(Math.round(worked / 60_000)) });
  }
  store({ worked, reminded, at: now });
}

setInterval(tick, TICK_MS);
tick();

// The clock: runs while pages are shown, stops automatically, and reports to the server.
import { send } from "../offline/keepalive.js";

const HEARTBEAT_MS = 15000;
const TICK_MS = 250;
const ASLEEP_MS = 10000; // a gap between ticks after which the computer may have been asleep, or the page only blocked
const WARNING_MS = 20000; // how long before an idle pause the person is warned, at most half the idle limit

const two = (number) => String(number).padStart(2, "0");

export function spell(ms) {
  const seconds = Math.floor(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours ? `${hours}:${rest}` : rest;
}

export class Clock {
  // before: time on earlier questions; question: time on this one so far; both in ms.
  constructor({ face, before, question, idleMs, report, stopped, nearIdle }) {
    Object.assign(this, { face, before, idleMs, report, stopped, nearIdle });
    this.kept = question;
    this.since = null;
    this.warned = false;
    this.touched = this.ticked = this.beaten = performance.now();
    this.seconds = this.counted = 0; // by the worker: now, and at the last tick
    this.gap = null; // when it began, while the worker is asked about it
    this.worker = new Worker(new URL("ticks.js", import.meta.url));
    this.worker.addEventListener("message", ({ data }) => this.hear(data));
    this.worker.addEventListener("error", () => { this.worker = null; if (this.gap !== null) this.hear({ asleep: true }); });
    setInterval(() => this.tick(), TICK_MS);
  }

  hear({ seconds = this.seconds, asleep }) {
    this.seconds = seconds;
    if (asleep === undefined) return;
    const from = this.gap;
    this.gap = null;
    if (!asleep || !this.running) return;
    this.stop(from);
    this.stopped("asleep");
  }

  // Ask the worker what a long time between two ticks was; without a worker it counts as sleep.
  ask(from, to, since) {
    this.gap = from;
    if (this.worker) this.worker.postMessage({ gap: to - from, since });
    else this.hear({ asleep: true });
  }

  get running() {
    return this.since !== null;
  }

  get question() {
    return Math.round(this.kept + (this.running ? performance.now() - this.since : 0));
  }

  get text() {
    return spell(this.before + this.question);
  }

  start() {
    if (this.running) return;
    this.since = this.touched = this.ticked = this.beaten = performance.now();
    this.counted = this.seconds;
    this.draw();
  }

  stop(at = performance.now()) {
    if (!this.running) return;
    this.kept += Math.max(0, at - this.since);
    this.since = null;
    this.draw();
  }

  // Return the time on this question, to be sent with its answer, and start the next one at zero.
  take() {
    const spent = this.question;
    this.before += spent;
    this.kept = 0;
    if (this.running) this.since = performance.now();
    return spent;
  }

  touch() {
    this.touched = performance.now();
    this.warn(false);
  }

  warn(isNear) {
    if (isNear === this.warned) return;
    this.warned = isNear;
    this.nearIdle(isNear);
  }

  tick() {
    const now = performance.now();
    const [before, since] = [this.ticked, this.counted];
    [this.ticked, this.counted] = [now, this.seconds];
    if (!this.running || this.gap !== null) return;
    if (now - before > ASLEEP_MS) {
      this.ask(before, now, since);
      return;
    }
    if (now - this.touched > this.idleMs) {
      this.warn(false);
      this.stop(this.touched); // nobody was there after the last activity, so that time does not count
      this.stopped("idle");
    } else if (now - this.beaten > HEARTBEAT_MS) {
      this.beaten = now;
      this.report("heartbeat");
    }
    this.warn(this.running && now - this.touched > this.idleMs - Math.min(WARNING_MS, this.idleMs / 2));
    this.draw();
  }

  draw() {
    if (this.face.textContent !== this.text) this.face.textContent = this.text;
  }
}

// Reports are sent independently of answers and are not part of the log; losing one is harmless.
export function reporter({ url, csrf, clock }) {
  const bodyOf = (kind, reason) => {
    const body = new URLSearchParams({ kind, active_ms: String(clock().question) });
    if (reason) body.set("reason", reason);
    return body;
  };
  return {
    send(kind, reason) {
      const headers = { "X-CSRF-Token": csrf(), "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded" };
      send(url, { method: "POST", headers, body: bodyOf(kind, reason).toString() }).catch(() => {});
    },
    leave() {
      const body = bodyOf("leave");
      body.set("csrf_token", csrf());
      navigator.sendBeacon(url, body);
    },
  };
}

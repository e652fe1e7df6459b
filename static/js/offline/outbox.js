// Queue of answers to send, one after the other and each once: it is stored in this browser until the server has replied.
import { send } from "./keepalive.js";
import { keep, load } from "./store.js";

const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const SLOW_MS = 3000; // after this long without a reply the person is told
const HANGS_MS = 30000; // after this long the request is sent again; the server counts it once

export class Outbox {
  // hooks: offline, slow, online, failed (is given what tries again at once), signedOut, outOfDate; where nothing can be
  // stored, renew in place of the last two: it resolves with whether the answer can be sent again at once.
  constructor({ url, csrf, hooks }) {
    Object.assign(this, { url, csrf, hooks });
    this.items = [];
    this.known = new Set(); // every answer that this tab has held
    this.busy = false;
  }

  get empty() {
    return this.items.length === 0;
  }

  get size() {
    return this.items.length;
  }

  // Return what an earlier page has left unsent. It stays stored until it is sent.
  recover() {
    return load("outbox", []).filter((body) => typeof body === "string");
  }

  // Store what is unsent; what another tab has stored meanwhile stays.
  store() {
    const others = this.recover().filter((body) => !this.known.has(body));
    const bodies = [...others, ...this.items.map((item) => item.body)];
    this.isStored = keep("outbox", bodies, bodies.length === 0);
  }

  // Resolves with { status, text } once the server has given its final reply.
  send(body) {
    return new Promise((resolve) => {
      this.items.push({ body, resolve });
      this.known.add(body);
      this.store();
      this.work();
    });
  }

  sendAll(bodies) {
    return Promise.all(bodies.map((body) => this.send(body)));
  }

  drop() {
    this.items.length = 0;
    this.store();
  }

  async work() {
    if (this.busy) return;
    this.busy = true;
    await null; // let all answers of an earlier page be queued and stored first
    while (!this.empty) {
      const item = this.items[0];
      const reply = await this.deliver(item.body);
      if (!reply) return; // another page is loading and takes over
      this.items.shift();
      this.store();
      item.resolve(reply);
      await null; // let the listener drop later answers before they are sent
    }
    this.busy = false;
  }

  async deliver(body) {
    for (let tries = 0; ; tries += 1) {
      const reply = await this.post(body);
      const pause = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)];
      if (reply === null) {
        this.hooks.offline();
        await this.wait(pause);
      } else if ([401, 403].includes(reply.status) && !this.isStored) {
        if (!(await this.hooks.renew())) await this.wait(pause);
      } else if (reply.status === 401) {
        return this.hooks.signedOut();
      } else if (reply.status === 403) {
        return this.hooks.outOfDate();
      } else if (reply.status === 503) {
        // The server is busy and has written nothing: wait as long as it asks, with jitter.
        this.hooks.online();
        await this.wait(1000 * reply.retryAfter + 1000 * Math.random());
      } else if (reply.status >= 500) {
        this.hooks.online();
        this.hooks.failed(() => this.hurry?.());
        await this.wait(pause);
      } else {
        this.hooks.online();
        return reply;
      }
    }
  }

  async post(body) {
    const headers = { "X-CSRF-Token": this.csrf(), "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded" };
    const slow = setTimeout(() => this.hooks.slow(), SLOW_MS);
    try {
      const response = await send(this.url, { method: "POST", headers, body, signal: AbortSignal.timeout(HANGS_MS) });
      const retryAfter = Math.min(Number(response.headers.get("Retry-After")) || 2, 30);
      return { status: response.status, text: await response.text(), retryAfter };
    } catch {
      return null;
    } finally {
      clearTimeout(slow);
    }
  }

  wait(ms) {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        removeEventListener("online", done);
        removeEventListener("focus", done);
        this.hurry = null;
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.hurry = done;
      addEventListener("online", done);
      addEventListener("focus", done); // the person comes back, perhaps from signing in
    });
  }
}

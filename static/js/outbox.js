// Queue of answers to send, one after the other; each is stored until the server has replied to it.
import { send } from "./keepalive.js";

const RETRY_MS = [500, 1000, 2000, 4000, 8000];

export class Outbox {
  // name: the sessionStorage key under which answers survive a reload; hooks: offline, online, failed, signedOut, outOfDate.
  constructor({ url, csrf, name, user, hooks }) {
    Object.assign(this, { url, csrf, name, user, hooks });
    this.items = [];
    this.busy = false;
  }

  get empty() {
    return this.items.length === 0;
  }

  // Return what an earlier page of this tab stored for this person, and clear it.
  recover() {
    try {
      const kept = JSON.parse(sessionStorage.getItem(this.name) ?? "null");
      sessionStorage.removeItem(this.name);
      return kept?.user === this.user ? kept.bodies : [];
    } catch {
      return [];
    }
  }

  keep() {
    const bodies = this.items.map((item) => item.body);
    try {
      if (this.empty) sessionStorage.removeItem(this.name);
      else sessionStorage.setItem(this.name, JSON.stringify({ user: this.user, bodies }));
    } catch {
      // Without storage, answers are still sent.
    }
  }

  // Resolves with { status, text } once the server has given its final reply.
  send(body) {
    return new Promise((resolve) => {
      this.items.push({ body, resolve });
      this.keep();
      this.work();
    });
  }

  drop() {
    this.items.length = 0;
    this.keep();
  }

  async work() {
    if (this.busy) return;
    this.busy = true;
    while (!this.empty) {
      const item = this.items[0];
      const reply = await this.deliver(item.body);
      if (!reply) return; // another page is loading and takes over
      this.items.shift();
      this.keep();
      item.resolve(reply);
      await null; // let the listener drop later answers before they are sent
    }
    this.busy = false;
  }

  async deliver(body) {
    for (let tries = 0; ; tries += 1) {
      const reply = await this.post(body);
      if (reply === null) {
        this.hooks.offline();
        await this.wait(RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]);
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
        await this.hooks.failed();
      } else {
        this.hooks.online();
        return reply;
      }
    }
  }

  async post(body) {
    const headers = { "X-CSRF-Token": this.csrf, "HX-Request": "true", "Content-Type": "application/x-www-form-urlencoded" };
    try {
      const response = await send(this.url, { method: "POST", headers, body });
      const retryAfter = Math.min(Number(response.headers.get("Retry-After")) || 2, 30);
      return { status: response.status, text: await response.text(), retryAfter };
    } catch {
      return null;
    }
  }

  wait(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        removeEventListener("online", done);
        resolve();
      }
      addEventListener("online", done);
    });
  }
}

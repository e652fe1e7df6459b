"""The clock of judging pages: it stands still until a test moves it, so times are exact.

Playwright's own clock either runs, so that a starved machine reaches the limits of the page, or
stops everything, also what a page needs to load. This one leaves frames and short timers alone.
"""

from playwright.sync_api import Page

GIVEN_CLOCK = """(() => {
  if (!/\\/assignments\\/\\d+$/.test(location.pathname)) return; // elsewhere nothing is timed
  const SHORT_MS = 500; // timers below it are steps of the program, not waits of a person
  const began = Math.max(Date.now(), Number(window.name)); // of a tab that is loaded again, later
  const [start, end] = [window.setTimeout, window.clearTimeout];
  const waiting = new Map(); // number -> { at, call, every }
  let [now, last] = [0, 1e9];
  const wait = (call, ms, every) => {
    waiting.set(last += 1, { at: now + ms, call, every, ms });
    return last;
  };
  performance.now = () => now;
  Date.now = () => began + now;
  window.setTimeout = (call, ms = 0, ...given) =>
    (ms < SHORT_MS ? start(call, ms, ...given) : wait(() => call(...given), ms));
  window.setInterval = (call, ms, ...given) => wait(() => call(...given), ms, ms);
  window.clearTimeout = window.clearInterval = (number) => {
    if (!waiting.delete(number)) end(number);
  };
  AbortSignal.timeout = (ms) => {
    const control = new AbortController();
    wait(() => control.abort(), ms);
    return control.signal;
  };
  const due = (until) => [...waiting].filter(([, { at }]) => at <= until)
    .sort(([, a], [, b]) => a.at - b.at)[0];
  window.isTimed = (ms) => [...waiting.values()].some((timer) => timer.ms === ms);
  window.passTime = (ms, isAsleep) => {
    const until = now + ms;
    if (isAsleep) for (const timer of waiting.values()) timer.at = Math.max(timer.at, until);
    for (let next = due(until); next; next = due(until)) {
      const [number, timer] = next;
      now = timer.at;
      if (timer.every) timer.at += timer.every;
      else waiting.delete(number);
      timer.call();
    }
    now = until;
    window.name = String(Date.now());
  };
})()"""


def pass_time(page: Page, ms: int, *, asleep: bool = False) -> None:
    """Move the clock of the page; of a computer that was ``asleep``, timers run once, and late."""
    page.evaluate("([ms, asleep]) => passTime(ms, asleep)", [ms, asleep])


def looks_again(page: Page) -> None:
    """Let the page of a member who waits for the team look again."""
    page.wait_for_function("() => isTimed(5000)")
    pass_time(page, 5000)

"""The clock in the browser: what stops it, what it reports, and how accurate it is."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    OBSERVER,
    AssignedWork,
    Site,
    answered,
    frame_of,
    make_assigned,
    pass_time,
    press,
    question_of,
    ready,
    saved,
    seen,
    settled,
    spend,
    tolerance,
)
from tests.live import FORKER, free_port, serving
from topkapi.app.db.engine import make_engine, make_sessions

pytestmark = pytest.mark.browser
HIDE = """() => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
SHOW = """() => {
  delete document.hidden;
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def clock_of(page: Page) -> str:
    return page.inner_text("#clock time")


def is_paused(page: Page) -> bool:
    """Return whether the pages are removed, the answers disabled, and one button resumes."""
    assert page.locator("iframe").count() == 0
    assert len(page.frames) == 1
    expect(page.get_by_role("button", name="Left is better")).to_be_disabled()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_focused()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    return True


def test_pause_takes_the_pages_away_and_stops_the_clock(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    context.clock.install()
    tab = assigned.open_page(context)
    before = question_of(tab)
    frame_of(tab, "left").locator("body").click()
    tab.mouse.wheel(0, 300)
    scrolled = "() => document.querySelector('#left-frames iframe').contentWindow.scrollY"
    tab.wait_for_function(f"() => ({scrolled})() > 100")
    position = tab.evaluate(scrolled)
    tab.keyboard.press("p")
    assert is_paused(tab)
    stopped = clock_of(tab)
    tab.keyboard.press("ArrowLeft")
    pass_time(tab, 2)
    assert clock_of(tab) == stopped
    tab.keyboard.press("p")
    ready(tab)
    assert question_of(tab) == before
    assert tab.evaluate(scrolled) == position
    pass_time(tab, 2)
    expect(tab.locator("#clock time")).not_to_have_text(stopped)
    assert assigned.log() == []
    kinds = [kind for kind, _, _ in assigned.events_so_far(3)]
    assert kinds == ["start", "pause", "resume"]


def test_a_short_absence_stops_the_clock_and_shows_no_pause(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    context.clock.install()
    tab = assigned.open_page(context)
    tab.evaluate(HIDE)
    stopped = clock_of(tab)
    pass_time(tab, 8)
    assert clock_of(tab) == stopped
    tab.evaluate(SHOW)
    expect(tab.get_by_role("button", name="Resume")).to_have_count(0)
    pass_time(tab, 8)
    expect(tab.locator("#clock time")).not_to_have_text(stopped)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    assert assigned.rows()[0].active_ms < 16_000
    assert [kind for kind, _, _ in assigned.events()] == ["start"]


def test_a_hidden_tab_pauses_and_says_why(assigned: AssignedWork, context: BrowserContext) -> None:
    context.clock.install()
    tab = assigned.open_page(context)
    tab.evaluate(HIDE)
    pass_time(tab, 12)
    assert is_paused(tab)
    expect(tab.get_by_text("You left this tab at")).to_be_visible()
    tab.evaluate(SHOW)
    assert is_paused(tab)
    tab.get_by_role("button", name="Resume").click()
    ready(tab)
    events = [(kind, reason) for kind, reason, _ in assigned.events_so_far(3)]
    assert events == [("start", None), ("auto_pause", "hidden"), ("resume", None)]


def test_idleness_pauses_and_reading_does_not(site: Site, context: BrowserContext) -> None:
    assigned = make_assigned(site, idle_seconds=30)
    context.clock.install()
    page = assigned.open_page(context)
    frame_of(page, "left").locator("body").click()
    scrolled = "document.querySelector('#left-frames iframe').contentWindow.scrollY"
    for _ in range(3):
        pass_time(page, 20)
        before = page.evaluate(scrolled)
        page.mouse.wheel(0, 50)
        page.wait_for_function(f"before => {scrolled} > before", arg=before)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    pass_time(page, 31)
    assert is_paused(page)
    expect(page.get_by_text("There was no activity for 30 seconds")).to_be_visible()
    events = assigned.events_until("auto_pause")  # a heartbeat every 15 seconds before it
    assert [kind for kind, _, _ in events].count("heartbeat") >= 4
    assert [reason for kind, reason, _ in events if kind == "auto_pause"] == ["idle"]


def test_a_computer_that_slept_has_not_worked(site: Site, context: BrowserContext) -> None:
    assigned = make_assigned(site)
    context.clock.install()
    page = assigned.open_page(context)
    page.clock.fast_forward(3_600_000)
    assert is_paused(page)
    expect(page.get_by_text("The computer was asleep")).to_be_visible()
    minutes, seconds = clock_of(page).split(":")
    assert int(minutes) * 60 + int(seconds) < 60


TICKS = Path(__file__).parents[2] / "static/js/ticks.js"
# The clock of the worker goes on while the page is blocked: it has counted when it is asked.
COUNTING = """self.setInterval = (tick) => addEventListener("message", ({ data: { gap } }) => {
  for (let passed = 0; passed < gap; passed += 1000) tick();
});"""


def test_a_page_that_was_blocked_goes_on(site: Site, context: BrowserContext) -> None:
    assigned = make_assigned(site)
    context.clock.install()
    body = COUNTING + TICKS.read_text()
    context.route(
        "**/ticks.js", lambda route: route.fulfill(body=body, content_type="text/javascript")
    )
    page = assigned.open_page(context)
    page.clock.fast_forward(20_000)
    expect(page.locator("#clock time")).to_have_text(re.compile("^00:[2-5]"))
    press(page, "ArrowLeft", 1)


def truth_of(page: Page) -> list[int]:
    """Return the milliseconds on each answered question, by the observer."""
    spent: list[float] = []
    total, since = 0.0, None
    for what, at in page.evaluate("window.seen"):
        if what in ("shown", "back"):
            since = at
        elif what in ("p", "hide"):
            if since is None:  # the same key resumes
                since = at
            else:
                total, since = total + at - since, None
        elif what in ("ArrowLeft", "ArrowRight"):
            spent.append(total + at - (since or at))
            total, since = 0.0, at
    return [round(ms) for ms in spent]


def test_recorded_times_are_true(tmp_path: Path, context: BrowserContext, sqlite_url: str) -> None:
    port = free_port()
    engine = make_engine(sqlite_url)
    with serving(sqlite_url, tmp_path, port=port, start=FORKER.start) as server:
        site = Site(server, make_sessions(engine))
        assigned = make_assigned(site)
        context.add_init_script(OBSERVER)
        page = assigned.open_page(context)
        spend(page, 1200)
        page.keyboard.press("ArrowLeft")
        answered(page, 1)
        spend(page, 700)  # a question with a manual pause
        page.keyboard.press("p")
        spend(page, 1500)
        page.keyboard.press("p")
        spend(page, 500)
        seen(page)
        page.keyboard.press("ArrowRight")
        answered(page, 2)
        spend(page, 400)  # one during which the tab is hidden
        page.evaluate(HIDE)
        spend(page, 1500)
        page.evaluate(SHOW)
        spend(page, 600)
        seen(page)
        page.keyboard.press("ArrowLeft")
        answered(page, 3)
        saved(page)
        server.kill()
        spend(page, 800)  # and one during which the server is down
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("No connection.")).to_be_visible()
        spend(page, 500)
    with serving(sqlite_url, tmp_path, port=port, start=FORKER.start):
        expect(page.get_by_text("No connection.")).not_to_be_visible()
        saved(page)
        truth = truth_of(page)
        rows, most = assigned.rows(), tolerance(page)
        wall = page.evaluate("performance.now()")
    engine.dispose()
    recorded = [row.active_ms for row in rows]
    assert len(recorded) == len(truth) == 4
    assert all(abs(mine - true) < most for mine, true in zip(recorded, truth, strict=True))
    assert all(row.active_ms <= row.wall_ms for row in rows)
    assert sum(recorded) <= wall


def test_leaving_keeps_the_time_on_a_question(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    spend(tab, 1500)
    tab.goto(assigned.site.server.url)
    expect(tab.get_by_role("heading", name="Your queue")).to_be_visible()
    left = [ms for kind, _, ms in assigned.events_so_far(2) if kind == "leave"]
    assert left[0] >= 1400
    again = assigned.open_page(context)
    assert clock_of(again) >= "00:01"
    again.keyboard.press("ArrowLeft")
    answered(again, 1)
    saved(again)
    assert assigned.rows()[0].active_ms >= left[0]


def test_looking_ahead_leaves_no_trace(assigned: AssignedWork, tab: Page) -> None:
    assert assigned.log() == []
    assert [kind for kind, _, _ in assigned.events_so_far(1)] == ["start"]
    shown = set(tab.locator("#entry input").evaluate_all("all => all.map(x => x.value)"))
    made_ready = set(
        tab.locator(".frame--next").evaluate_all("all => all.map(x => x.dataset.name)")
    )
    assert made_ready - shown, "pages that were not shown yet have been loaded"
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    new = tab.locator("#left-title .badge--new, #right-title .badge--new").count()
    assert new >= 1, "a page that was only made ready is still new"


def test_no_answer_is_given_to_pages_that_are_hidden(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    page.keyboard.press("p")
    for key in ("ArrowLeft", "ArrowRight", "t", "u", "Shift+ArrowLeft", "n"):
        page.keyboard.press(key)
    settled(page)
    assert assigned.log() == []
    expect(page.get_by_label("What should the researchers know?")).not_to_be_visible()
    page.keyboard.press("p")
    ready(page)
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "left")], "and none is sent later"

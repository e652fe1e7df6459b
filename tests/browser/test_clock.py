"""The clock in the browser: what stops it, what it reports, and that recorded times are true."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    frame_of,
    happened,
    make_assigned,
    press,
    question_of,
    ready,
    saved,
    sent_again,
)
from tests.browser.page_clock import pass_time
from tests.live import FORKER, free_port, serving
from topkapi.app.db.engine import make_engine, make_sessions

pytestmark = pytest.mark.browser
HOUR = 3_600_000  # milliseconds
HIDE = """() => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
SHOW = """() => {
  delete document.hidden;
  document.dispatchEvent(new Event('visibilitychange'));
}"""
SCROLLED = "document.querySelector('#left-frames iframe').contentWindow.scrollY"


def clock_of(page: Page) -> str:
    return page.inner_text("#clock time")


def is_paused(page: Page) -> bool:
    """Return whether the pages are removed, the answers disabled, and one button resumes."""
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_focused()
    assert page.locator("iframe").count() == 0
    assert len(page.frames) == 1
    expect(page.get_by_role("button", name="Left is better")).to_be_disabled()
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_have_count(0)
    return True


def scroll(page: Page, by: int) -> None:
    before = page.evaluate(SCROLLED)
    page.mouse.wheel(0, by)
    page.wait_for_function(f"before => {SCROLLED} > before", arg=before)


def kinds(events: list[tuple[str, str | None, int]]) -> list[tuple[str, str | None]]:
    return [(kind, reason) for kind, reason, _ in events]


def test_a_pause_takes_the_pages_away_and_leaving_keeps_the_time(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    shown = set(tab.locator("#entry input").evaluate_all("all => all.map(x => x.value)"))
    made_ready = tab.locator(".frame--next").evaluate_all("all => all.map(x => x.dataset.name)")
    assert set(made_ready) - shown, "pages that were not shown yet have been loaded"
    assert assigned.log() == []
    assert kinds(assigned.events_so_far(1)) == [("start", None)]
    before = question_of(tab)
    frame_of(tab, "left").locator("body").click()
    scroll(tab, 300)
    position = tab.evaluate(SCROLLED)
    tab.keyboard.press("p")
    assert is_paused(tab)
    for key in ("ArrowLeft", "ArrowRight", "t", "u", "Shift+ArrowLeft", "n"):
        tab.keyboard.press(key)
    expect(tab.get_by_label("What should the researchers know?")).not_to_be_visible()
    pass_time(tab, 60_000)
    assert clock_of(tab) == "00:00"
    tab.keyboard.press("p")
    ready(tab)
    assert question_of(tab) == before
    assert tab.evaluate(SCROLLED) == position
    pass_time(tab, 2000)
    assert clock_of(tab) == "00:02"
    events = [("start", None), ("pause", "person"), ("resume", None)]
    assert kinds(assigned.events_so_far(3)) == events
    assigned.age(HOUR)
    press(tab, "ArrowLeft", 1)
    assert assigned.log() == [("answer", "left")], "what was pressed during the pause is not sent"
    new = tab.locator("#left-title .badge--new, #right-title .badge--new").count()
    assert new >= 1, "a page that was only made ready is still new"
    assigned.age(HOUR)
    pass_time(tab, 1500)
    tab.goto(assigned.site.server.url)
    expect(tab.get_by_role("heading", name="Your queue")).to_be_visible()
    assert assigned.events_so_far(4)[-1] == ("leave", None, 1500)
    again = assigned.open_page(context)
    assert clock_of(again) == "00:03"
    press(again, "ArrowLeft", 2)
    assert [row.active_ms for row in assigned.rows()] == [2000, 1500]


def test_a_hidden_tab_stops_the_clock_and_pauses_after_a_while(
    assigned: AssignedWork, tab: Page
) -> None:
    tab.evaluate(HIDE)
    pass_time(tab, 8000)
    tab.evaluate(SHOW)
    assert clock_of(tab) == "00:00"
    expect(tab.get_by_role("button", name="Resume")).to_have_count(0)
    pass_time(tab, 8000)
    assert clock_of(tab) == "00:08"
    assert kinds(assigned.events_so_far(1)) == [("start", None)]
    tab.evaluate(HIDE)
    pass_time(tab, 12_000)
    assert is_paused(tab)
    expect(tab.get_by_text("You left this tab at")).to_be_visible()
    tab.evaluate(SHOW)
    assert is_paused(tab)
    tab.get_by_role("button", name="Resume").click()
    ready(tab)
    events = [("start", None), ("auto_pause", "hidden"), ("resume", None)]
    assert kinds(assigned.events_so_far(3)) == events
    pass_time(tab, HOUR, asleep=True)
    assert is_paused(tab)
    expect(tab.get_by_text("The computer was asleep")).to_be_visible()
    assert clock_of(tab) == "00:08", "it has not worked"


def test_idleness_pauses_and_reading_does_not(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(idle_seconds=30)  # seconds: of the clock that the test moves
    page = assigned.open_page(context)
    assigned.events_so_far(1)
    assigned.age(HOUR)
    frame_of(page, "left").locator("body").click()
    for _ in range(3):
        pass_time(page, 20_000)
        scroll(page, 50)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    warning = page.get_by_text("Still reading?")
    pass_time(page, 15_000)
    expect(warning).not_to_be_visible()
    pass_time(page, 500)
    expect(warning).to_be_visible()
    page.keyboard.press("j")
    expect(warning).not_to_be_visible()
    assert clock_of(page) == "01:15"
    pass_time(page, 30_000)
    expect(page.get_by_role("button", name="Resume", exact=True)).to_have_count(0)
    pass_time(page, 250)
    assert is_paused(page)
    expect(page.get_by_text("There was no activity for 30 seconds")).to_be_visible()
    expect(page.get_by_text("The time since your last activity is not counted.")).to_be_visible()
    assert clock_of(page) == "01:15"
    reported = Counter(kinds(assigned.events_so_far(8)))  # at 15.25, 30.5, ... 91.5 seconds
    assert reported == {("start", None): 1, ("heartbeat", None): 6, ("auto_pause", "idle"): 1}
    page.reload()
    ready(page)
    assert clock_of(page) == "01:15"
    assigned.events_so_far(9)
    assigned.age(HOUR)
    pass_time(page, 1000)
    press(page, "ArrowLeft", 1)
    assert [row.active_ms for row in assigned.rows()] == [76_500]


TICKS = Path(__file__).parents[2] / "static/js/clock/ticks.js"
# The clock of the worker goes on while the page is blocked: it has counted when it is asked.
COUNTING = """self.setInterval = (tick) => addEventListener("message", ({ data: { gap } }) => {
  for (let passed = 0; passed < gap; passed += 1000) tick();
});"""
LISTENING = """window.Worker = class extends Worker {
  constructor(url) {
    super(url);
    this.addEventListener("message", ({ data }) => { window.hasAnswered ||= "asleep" in data; });
  }
}"""


def test_a_page_that_was_blocked_goes_on(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    body = COUNTING + TICKS.read_text()
    context.route(
        "**/ticks.js", lambda route: route.fulfill(body=body, content_type="text/javascript")
    )
    context.add_init_script(LISTENING)
    page = new_assigned().open_page(context)
    pass_time(page, 20_000, asleep=True)
    page.wait_for_function("() => window.hasAnswered")
    pass_time(page, 250)  # until it counts again
    expect(page.locator("#clock time")).to_have_text("00:20")
    press(page, "ArrowLeft", 1)


def opened_with_late_pages(assigned: AssignedWork, context: BrowserContext) -> Page:
    """Open the judging page; for five seconds of its clock, its pages do not come."""
    assigned.sign_in(context)
    page, held = context.new_page(), list[Route]()
    page.route("**/pages/**", lambda route: held.append(route))
    page.goto(assigned.url, wait_until="domcontentloaded")
    expect(page.locator("#announce")).to_contain_text("Question 1.")  # the scripts run
    happened(page, lambda: len(held) >= 2, "requests for the pages")
    pass_time(page, 5000)
    page.unroute("**/pages/**")  # which lets them go on
    ready(page)
    assigned.events_so_far(1)
    return page


def test_recorded_times_are_true(tmp_path: Path, context: BrowserContext, sqlite_url: str) -> None:
    port, engine = free_port(), make_engine(sqlite_url)
    with serving(sqlite_url, tmp_path, port=port, start=FORKER.start) as server:
        assigned = make_assigned(Site(server, make_sessions(engine)))
        page = opened_with_late_pages(assigned, context)
        pass_time(page, 1200)
        assigned.age(HOUR)
        press(page, "ArrowLeft", 1)
        pass_time(page, 700)  # a question with a manual pause
        page.keyboard.press("p")
        pass_time(page, 1500)
        page.keyboard.press("p")
        ready(page)
        pass_time(page, 500)
        assigned.age(HOUR)
        press(page, "ArrowRight", 2)
        pass_time(page, 400)  # one during which the tab is hidden
        page.evaluate(HIDE)
        pass_time(page, 1500)
        page.evaluate(SHOW)
        pass_time(page, 600)
        assigned.age(HOUR)
        press(page, "ArrowLeft", 3)
        ready(page)
        assigned.age(HOUR)
        os.kill(server.process.pid, signal.SIGSTOP)  # two during which the server stalls
        try:
            pass_time(page, 750)
            page.keyboard.press("ArrowLeft")
            answered(page, 4)
            pass_time(page, 900)
            page.keyboard.press("ArrowRight")
            pass_time(page, 3000)
            expect(page.get_by_text("The server is slow to answer.")).to_be_visible()
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        answered(page, 5)
        saved(page)
        ready(page)
        assigned.age(HOUR)
        last = question_of(page)
        server.kill()
        pass_time(page, 800)  # and one during which it is down
        page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("No connection.")).to_be_visible()
    with serving(sqlite_url, tmp_path, port=port, start=FORKER.start):
        sent_again(page)
        expect(page.get_by_text("No connection.")).not_to_be_visible()
        answered(page, 6)
        press(page, "u", 5)
        assert question_of(page).partition("&")[2] == last.partition("&")[2]
        *rows, undone = assigned.rows()
    engine.dispose()
    assert undone.entry.value == "undo"
    assert [row.active_ms for row in rows] == [1200, 1200, 1000, 750, 900, 800]
    assert all(row.active_ms <= row.wall_ms for row in rows)

"""Recorded time against the script's own stopwatch: idle pauses and a server that stalls."""

import os
import signal
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    OBSERVER,
    AssignedWork,
    Site,
    answered,
    make_assigned,
    ready,
    saved,
    shows_what_it_asks,
    tolerance,
)
from tests.live import FORKER, serving
from topkapi.app.db.engine import make_engine, make_sessions

pytestmark = pytest.mark.browser


def truth_of(page: Page) -> list[float]:
    """Return the milliseconds between the first pages and each key press, by the observer."""
    return [later - earlier for (_, earlier), (_, later) in pairwise(page.evaluate("window.seen"))]


def test_answers_that_waited_for_a_stalled_server_keep_their_times(
    tmp_path: Path, context: BrowserContext, database_url: str
) -> None:
    engine = make_engine(database_url)
    with serving(database_url, tmp_path, start=FORKER.start) as server:
        assigned = make_assigned(Site(server, make_sessions(engine)))
        context.add_init_script(OBSERVER)
        page = assigned.open_page(context)
        assigned.events_so_far(1)
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            page.wait_for_timeout(700)  # the work itself
            page.keyboard.press("ArrowLeft")
            answered(page, 1)
            page.wait_for_timeout(900)
            page.keyboard.press("ArrowRight")
            expect(page.get_by_text("The server is slow to answer.")).to_be_visible()
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        saved(page)
        answered(page, 2)
        truth, rows = truth_of(page), assigned.rows()
        most = tolerance(page)
    engine.dispose()
    wrong = [abs(row.active_ms - true) for row, true in zip(rows, truth, strict=True)]
    assert len(rows) == 2
    assert max(wrong) < most
    assert all(row.active_ms <= row.wall_ms for row in rows)


def test_an_idle_pause_charges_nothing_after_the_last_activity(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(idle_seconds=10)
    context.add_init_script(OBSERVER)
    page = assigned.open_page(context)
    page.wait_for_timeout(1000)  # the work itself
    page.keyboard.press("j")
    expect(page.get_by_text("Still reading?")).to_be_visible()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    expect(page.get_by_text("The time since your last activity is not counted.")).to_be_visible()
    page.keyboard.press("p")
    ready(page)
    page.wait_for_timeout(1000)
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    saved(page)
    read, idle, after = truth_of(page)
    assert idle > 10_000
    assert abs(assigned.rows()[0].active_ms - (read + after)) < tolerance(page)


def test_activity_takes_the_warning_away(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    context.clock.install()
    page = new_assigned(idle_seconds=60).open_page(context)
    page.clock.run_for(45_000)
    expect(page.get_by_text("Still reading?")).to_be_visible()
    page.keyboard.press("j")
    expect(page.get_by_text("Still reading?")).not_to_be_visible()
    page.clock.run_for(30_000)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_time_on_a_question_after_an_idle_pause_survives_a_reload(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(idle_seconds=40)
    context.clock.install()
    page = assigned.open_page(context)
    page.clock.run_for(42_000)  # with heartbeats at 15 and 30 seconds
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    deadline = time.monotonic() + 15
    while not any(kind == "auto_pause" for kind, _, _ in assigned.events()):
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)
    page.reload()
    shows_what_it_asks(page)
    minutes, seconds = page.inner_text("#clock time").split(":")
    assert 60 * int(minutes) + int(seconds) < 15

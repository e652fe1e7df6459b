"""Rest reminders on the judging page, and the day's work on the queue page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    make_assigned,
    saved,
    shows_what_it_asks,
)
from tests.browser.looks import barriers, flaws, widths

pytestmark = pytest.mark.browser
REMINDER = "minutes without a break"


def test_a_rest_is_suggested_after_the_study_s_minutes(site: Site, context: BrowserContext) -> None:
    assigned = make_assigned(site, rest_minutes=5, idle_seconds=3600)
    context.clock.install()
    page = assigned.open_page(context)
    page.clock.run_for(270_000)
    expect(page.get_by_text(REMINDER)).to_have_count(0)
    page.clock.run_for(40_000)
    expect(page.get_by_text("You have judged for 5 minutes without a break.")).to_be_visible()
    assert flaws(page) == []
    assert barriers(page) == []
    page.get_by_role("button", name="OK").click()
    page.clock.run_for(60_000)
    expect(page.get_by_text(REMINDER)).to_have_count(0)
    page.clock.run_for(60_000)  # without a rest it comes again
    expect(page.get_by_text(REMINDER)).to_be_visible()


def test_a_pause_is_a_rest_and_reloading_is_not(site: Site, context: BrowserContext) -> None:
    assigned = make_assigned(site, rest_minutes=5, idle_seconds=3600)
    context.clock.install()
    page = assigned.open_page(context)
    page.clock.run_for(200_000)
    page.reload()
    shows_what_it_asks(page)
    page.clock.run_for(110_000)
    expect(page.get_by_text(REMINDER)).to_be_visible()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.clock.run_for(200_000)
    page.keyboard.press("p")
    page.clock.run_for(250_000)
    expect(page.get_by_text("You have judged for 5")).to_have_count(1)  # the old notice, no new one
    stored = page.evaluate("Object.entries(localStorage).find(([k]) => k.includes('rest'))[1]")
    assert '"reminded":0' in stored


def test_a_study_without_rest_minutes_loads_no_reminder(tab: Page) -> None:
    assert tab.locator("script[src*='rest.js']").count() == 0


def test_the_queue_shows_the_day(
    new_assigned: Callable[..., AssignedWork],
    context: BrowserContext,
    snapshot: Callable[[Page, str], None],
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    saved(page)
    for width in widths(page):
        page.goto(assigned.site.server.url)
        expect(page.get_by_text("1 answer", exact=True)).to_be_visible()
        expect(page.get_by_text("the time is known after a few answers")).to_be_visible()
        snapshot(page, f"queue-{width}")
        assert flaws(page) == [], width
        assert barriers(page) == [], width
    zones = [each for each in context.cookies() if each.get("name") == "topkapi_zone"]
    assert len(zones) == 1

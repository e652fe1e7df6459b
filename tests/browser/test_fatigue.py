"""Rest reminders on the judging page, and the day's work on the queue page."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import AssignedWork, press, shows_what_it_asks
from tests.browser.looks import barriers, flaws, sound
from tests.browser.page_clock import pass_time

pytestmark = pytest.mark.browser
REMINDER = "minutes without a break"


def test_a_rest_is_suggested_after_the_study_s_minutes(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    # seconds: of the clock that the test moves
    page = new_assigned(rest_minutes=5, idle_seconds=3600).open_page(context)
    reminder = page.get_by_text(REMINDER)
    pass_time(page, 200_000)
    page.reload()  # is no rest
    shows_what_it_asks(page)
    pass_time(page, 95_000)
    expect(reminder).to_have_count(0)
    pass_time(page, 10_000)
    expect(page.get_by_text("You have judged for 5 minutes without a break.")).to_be_visible()
    assert [*flaws(page), *barriers(page)] == []
    page.get_by_role("button", name="OK").click()
    pass_time(page, 90_000)
    expect(reminder).to_have_count(0)
    pass_time(page, 10_000)  # without a rest it comes again
    expect(reminder).to_be_visible()
    page.get_by_role("button", name="OK").click()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    pass_time(page, 200_000)
    page.keyboard.press("p")
    pass_time(page, 295_000)
    expect(reminder).to_have_count(0)
    pass_time(page, 10_000)
    expect(page.get_by_text("You have judged for 5 minutes without a break.")).to_be_visible()


def test_the_queue_shows_the_day(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned()
    page = assigned.open_page(context)
    assert page.locator("script[src*='rest.js']").count() == 0, "no rests in this study"
    press(page, "ArrowLeft", 1)
    page.goto(assigned.site.server.url)
    expect(page.get_by_text("1 answer today. 0 of 1 finished.")).to_be_visible()
    sound(page, "queue")
    zones = [each for each in context.cookies() if each.get("name") == "topkapi_zone"]
    assert len(zones) == 1

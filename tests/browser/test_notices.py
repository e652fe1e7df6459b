"""Notices: an urgent one stays until its cause is gone, any other goes with Esc or an answer."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.assigned_work import (
    AssignedWork,
    answered,
    saved,
    shows_what_it_asks,
)

pytestmark = pytest.mark.browser
FAILED = "The answer could not be saved"
REST = "minutes without a break"


def fail(route: Route) -> None:
    route.fulfill(status=500, body="no")


def test_an_urgent_notice_is_replaced_and_wiped_by_nothing_less_urgent(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(rest_minutes=5, idle_seconds=3600)
    context.clock.install()
    page = assigned.open_page(context)
    page.route("**/judgments", fail)
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    alert = page.locator("#notice").get_by_role("alert")
    expect(alert).to_contain_text(FAILED)
    page.keyboard.press("m")  # nothing is selected, which has a notice of its own
    expect(alert).to_contain_text(FAILED)
    page.keyboard.press("Escape")
    expect(alert).to_contain_text(FAILED)
    page.clock.run_for(310_000)  # a rest is due
    expect(alert).to_contain_text(FAILED)
    page.keyboard.press("ArrowRight")  # waits for the first answer
    expect(page.locator(".answer[aria-pressed=true]")).to_have_count(1)
    expect(alert).to_contain_text(FAILED)
    page.unroute("**/judgments")
    page.clock.run_for(60_000)  # it is sent again by itself
    answered(page, 2)
    saved(page)
    expect(page.get_by_text(FAILED)).not_to_be_visible()
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


def test_what_an_urgent_notice_covers_comes_back(tab: Page) -> None:
    tab.route("**/judgments", lambda route: route.abort())
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("No connection.")).to_be_visible()
    tab.keyboard.press("m")
    expect(tab.get_by_text("No connection.")).to_be_visible()
    expect(tab.get_by_text("Nothing is selected.")).not_to_be_visible()
    tab.unroute_all()
    expect(tab.get_by_text("Nothing is selected.")).to_be_visible()
    expect(tab.get_by_text("No connection.")).not_to_be_visible()


def test_other_notices_go_with_escape_and_with_the_next_answer(tab: Page) -> None:
    notice = tab.locator("#notice")
    tab.keyboard.press("m")
    expect(notice).to_contain_text("Nothing is selected.")
    expect(notice.locator("kbd")).to_have_text("Esc")
    tab.keyboard.press("Escape")
    expect(notice).to_be_empty()
    tab.keyboard.press("m")
    expect(notice).to_contain_text("Nothing is selected.")
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    expect(notice).to_be_empty()
    saved(tab)
    tab.keyboard.press("u")
    expect(notice).to_contain_text("You answered: Left is better.")
    tab.reload()
    shows_what_it_asks(tab)
    expect(notice).to_contain_text("You answered: Left is better.")
    tab.keyboard.press("Escape")
    expect(notice).to_be_empty()

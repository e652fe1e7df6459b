"""Notices: an urgent one stays until its cause is gone, any other goes with Esc or an answer."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import (
    AssignedWork,
    answered,
    plain_pages,
    ready,
    saved,
    sent_again,
    shows_what_it_asks,
)
from tests.browser.page_clock import pass_time

pytestmark = pytest.mark.browser
FAILED = "The answer could not be saved"


def test_an_urgent_notice_is_covered_by_nothing_and_others_go_with_escape_or_an_answer(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    # seconds: of the clock that the test moves
    assigned = new_assigned(pages=plain_pages(9), rest_minutes=5, idle_seconds=3600)
    page = assigned.open_page(context)
    notice = page.locator("#notice")
    page.keyboard.press("m")
    expect(notice).to_contain_text("Nothing is selected.")
    expect(notice.locator("kbd")).to_have_text("Esc")
    page.keyboard.press("Escape")
    expect(notice).to_be_empty()
    page.keyboard.press("m")
    expect(notice).to_contain_text("Nothing is selected.")
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    expect(notice).to_be_empty()
    saved(page)
    page.keyboard.press("u")
    expect(notice).to_contain_text("You answered: Left is better.")
    page.reload()
    shows_what_it_asks(page)
    expect(notice).to_contain_text("You answered: Left is better.")
    page.keyboard.press("Escape")
    expect(notice).to_be_empty()

    page.route("**/judgments", lambda route: route.fulfill(status=500, body="no"))
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    alert = notice.get_by_role("alert")
    expect(alert).to_contain_text(FAILED)
    page.keyboard.press("m")
    page.keyboard.press("Escape")
    pass_time(page, 310_000)  # a rest is due
    expect(alert).to_contain_text(FAILED)
    page.keyboard.press("ArrowRight")  # waits for the first answer
    expect(page.locator(".answer[aria-pressed=true]")).to_have_count(1)
    expect(alert).to_contain_text(FAILED)
    page.unroute("**/judgments")
    sent_again(page)
    answered(page, 2)
    expect(page.get_by_text(FAILED)).not_to_be_visible()

    ready(page)
    page.route("**/judgments", lambda route: route.abort())
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("No connection.")).to_be_visible()
    page.keyboard.press("m")
    expect(page.get_by_text("Nothing is selected.")).not_to_be_visible()
    expect(page.get_by_text("No connection.")).to_be_visible()
    page.unroute("**/judgments")
    sent_again(page)
    expect(page.get_by_text("Nothing is selected.")).to_be_visible()  # what it covered
    expect(page.get_by_text("No connection.")).not_to_be_visible()
    answers = [("answer", "left"), ("undo", None)]
    answers += [("answer", answer) for answer in ("left", "right", "left")]
    assert assigned.log() == answers

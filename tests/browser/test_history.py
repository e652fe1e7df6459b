"""Own history and opened pages: by keyboard, in safe frames, read-only."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import AssignedWork, answered, pair_of, plain_pages, saved
from tests.browser.looks import barriers, flaws, widths

pytestmark = pytest.mark.browser


def test_past_answers_are_opened_by_key_and_read_only(assigned: AssignedWork, tab: Page) -> None:
    left, right = pair_of(tab)
    tab.keyboard.press("n")
    tab.keyboard.type("Close call.")
    tab.keyboard.press("Escape")
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    tab.keyboard.press("y")
    expect(tab.get_by_role("heading", name="Your answers")).to_be_visible()
    expect(tab.get_by_text("1. Left is better")).to_be_visible()
    expect(tab.get_by_text("Close call.")).to_be_visible()
    expect(tab.locator("[data-chosen]")).to_contain_text(left)
    assert barriers(tab) == []
    tab.get_by_role("link", name=right).press("Enter")
    frame = tab.locator("#reader iframe")
    expect(frame).to_have_attribute("sandbox", "allow-same-origin")
    expect(tab.frame_locator("#reader iframe").get_by_text("Paragraph 0.")).to_be_visible()
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    expect(tab.locator("#reader")).to_be_hidden()
    tab.goto(f"{assigned.url}/history")
    expect(tab.get_by_text("Close call.")).to_be_visible()
    tab.get_by_role("link", name="Back to the question").press("Enter")
    answered(tab, 1)
    assert assigned.log() == [("answer", "left")]


def test_pages_of_the_finished_list_open_and_everything_fits(
    new_assigned: Callable[..., AssignedWork],
    context: BrowserContext,
    snapshot: Callable[[Page, str], None],
) -> None:
    assigned = new_assigned(pages=plain_pages(2), k=2)
    tab = assigned.open_page(context)
    tab.keyboard.press("ArrowRight")
    for width in widths(tab):
        expect(tab.get_by_text("Finished and saved")).to_be_visible()
        snapshot(tab, f"finished-{width}")
        assert flaws(tab) == [], width
        assert barriers(tab) == [], width
        tab.locator(".ranked a[data-page]").first.click()
        expect(tab.frame_locator("#reader iframe").get_by_text("Paragraph 0.")).to_be_visible()
        snapshot(tab, f"finished-page-{width}")
        assert flaws(tab) == [], width
        tab.frame_locator("#reader iframe").locator("body").click()
        tab.keyboard.press("Escape")  # also from inside the page
        expect(tab.locator("#reader")).to_be_hidden()
        tab.get_by_role("link", name="Your answers").click()
        expect(tab.get_by_role("heading", name="Your answers")).to_be_visible()
        snapshot(tab, f"history-{width}")
        assert flaws(tab) == [], width
        tab.goto(assigned.url)


def test_the_history_opens_over_the_pages_and_leads_back(assigned: AssignedWork, tab: Page) -> None:
    left, _ = pair_of(tab)
    for count in (1, 2):
        tab.keyboard.press("ArrowLeft")
        answered(tab, count)
        saved(tab)
        history = tab.get_by_role("dialog", name="Your answers")
        tab.keyboard.press("y")
        expect(history.get_by_text(f"{count}. Left is better")).to_be_visible()
        expect(history.get_by_text("1. Left is better")).to_be_visible()
        assert barriers(tab) == []
        assert flaws(tab) == []
        assert tab.url == assigned.url
        tab.keyboard.press("ArrowRight")  # nothing answers behind it
        history.get_by_role("link", name=left).first.press("Enter")
        reader = tab.get_by_role("dialog", name=left)
        expect(tab.frame_locator("#reader iframe").get_by_text("Paragraph 0.")).to_be_visible()
        tab.keyboard.press(".")
        expect(reader).to_be_hidden()  # the title of the next page
        tab.frame_locator("#reader iframe").locator("body").click()
        tab.keyboard.press("Escape")
        expect(tab.locator("#reader")).to_be_hidden()
        expect(history).to_be_visible()
        tab.keyboard.press("y" if count == 1 else "Escape")
        expect(history).to_be_hidden()
    tab.keyboard.press("t")
    answered(tab, 3)
    saved(tab)
    assert assigned.log() == [("answer", "left"), ("answer", "left"), ("answer", "tie")]


def test_a_history_that_cannot_be_loaded_says_so(tab: Page) -> None:
    tab.route("**/history", lambda route: route.abort())
    tab.keyboard.press("y")
    history = tab.get_by_role("dialog", name="Your answers")
    expect(history).to_contain_text("Your answers could not be loaded.")
    tab.unroute_all()
    tab.keyboard.press("y")
    tab.keyboard.press("y")
    expect(history).to_contain_text("Nothing answered yet.")


def test_undo_on_the_finished_page_opens_the_query_again(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=plain_pages(2), k=2)
    page = assigned.open_page(context)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    page.wait_for_load_state()
    page.locator(".ranked a[data-page]").first.press("Enter")
    expect(page.locator("#reader")).to_be_visible()
    page.keyboard.press("u")  # not while a page is open
    page.keyboard.press("Escape")
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_text("You answered: Right is better.")).to_be_visible()
    assert assigned.log() == [("answer", "right"), ("undo", None)]

"""Own history and opened pages: by keyboard, in safe frames, read-only."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import AssignedWork, answered, pair_of, plain_pages, press, ready
from tests.browser.looks import barriers, flaws, sound

pytestmark = pytest.mark.browser


def test_past_answers_are_opened_by_key_and_read_only(assigned: AssignedWork, tab: Page) -> None:
    history = tab.get_by_role("dialog", name="Your answers")
    tab.route("**/history", lambda route: route.abort())
    tab.keyboard.press("y")
    expect(history).to_contain_text("Your answers could not be loaded.")
    tab.unroute("**/history")
    tab.keyboard.press("y")
    tab.keyboard.press("y")
    expect(history).to_contain_text("Nothing answered yet.")
    tab.keyboard.press("y")
    left, right = pair_of(tab)
    tab.keyboard.press("n")
    tab.keyboard.type("Close call.")
    tab.keyboard.press("Escape")
    for count in (1, 2):
        press(tab, "ArrowLeft", count)
        tab.keyboard.press("y")
        expect(history.get_by_text(f"{count}. Left is better")).to_be_visible()
        expect(history.get_by_text("1. Left is better")).to_be_visible()
        expect(history.get_by_text("Close call.")).to_be_visible()
        assert [*barriers(tab), *flaws(tab)] == []
        assert tab.url == assigned.url
        tab.keyboard.press("ArrowRight")  # nothing answers behind it
        history.get_by_role("link", name=left).first.press("Enter")
        reader, frame = tab.get_by_role("dialog", name=left), tab.frame_locator("#reader iframe")
        expect(frame.get_by_text("Paragraph 0.")).to_be_visible()
        expect(tab.locator("#reader iframe")).to_have_attribute("sandbox", "allow-same-origin")
        tab.keyboard.press(".")
        expect(reader).to_be_hidden()  # the title of the next page
        frame.locator("body").click()
        tab.keyboard.press("Escape")
        expect(tab.locator("#reader")).to_be_hidden()
        expect(history).to_be_visible()
        tab.keyboard.press("y" if count == 1 else "Escape")
        expect(history).to_be_hidden()
    press(tab, "t", 3)
    tab.goto(f"{assigned.url}/history")
    expect(tab.get_by_role("heading", name="Your answers")).to_be_visible()
    expect(tab.get_by_text("Close call.")).to_be_visible()
    expect(tab.locator("[data-chosen]").last).to_contain_text(left)
    tab.get_by_role("link", name=right).last.press("Enter")
    expect(tab.frame_locator("#reader iframe").get_by_text("Paragraph 0.")).to_be_visible()
    assert barriers(tab) == []
    tab.keyboard.press("Escape")
    expect(tab.locator("#reader")).to_be_hidden()
    tab.get_by_role("link", name="Back to the question").press("Enter")
    answered(tab, 3)
    assert assigned.log() == [("answer", "left"), ("answer", "left"), ("answer", "tie")]


def test_pages_of_the_finished_list_open_and_undo_opens_the_query_again(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=plain_pages(2), k=2)
    tab = assigned.open_page(context)
    before = pair_of(tab)
    tab.keyboard.press("ArrowRight")
    expect(tab.get_by_text("Finished and saved")).to_be_visible()
    tab.wait_for_load_state()
    sound(tab, "finished")
    tab.locator(".ranked a[data-page]").first.press("Enter")
    expect(tab.frame_locator("#reader iframe").get_by_text("Paragraph 0.")).to_be_visible()
    sound(tab, "finished-page")
    tab.keyboard.press("u")  # not while a page is open
    tab.frame_locator("#reader iframe").locator("body").click()
    tab.keyboard.press("Escape")  # also from inside the page
    expect(tab.locator("#reader")).to_be_hidden()
    tab.keyboard.press("y")
    tab.wait_for_url(f"{assigned.url}/history")
    sound(tab, "history")
    tab.go_back()
    expect(tab.get_by_text("Finished and saved")).to_be_visible()
    tab.wait_for_load_state()
    tab.keyboard.press("u")
    expect(tab.get_by_text("You answered: Right is better.")).to_be_visible()
    assert pair_of(tab) == before
    ready(tab)
    tab.keyboard.press("ArrowLeft")
    expect(tab.get_by_text("Finished and saved")).to_be_visible()
    tab.get_by_role("button", name="Undo last answer").click()
    answered(tab, 0)
    assert assigned.log() == [
        ("answer", "right"), ("undo", None), ("answer", "left"), ("undo", None),
    ]  # fmt: skip

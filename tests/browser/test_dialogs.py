"""Dialogs are modal: a click outside only closes them, and Esc frees from every state."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.browser.assigned_work import AssignedWork, answered, frame_of, plain_pages, press, ready

pytestmark = pytest.mark.browser
DIALOGS = {"d": "upright", "?": "Help", "g": "Guidelines", "n": "Note", "x": "Flag"}
WITHOUT_COMMANDS = """
  delete HTMLButtonElement.prototype.command;
  addEventListener('command', (event) => event.preventDefault(), true);
"""


def click_over(page: Page, place: Locator) -> None:
    """Click where ``place`` is, whatever lies over it, near its left edge."""
    box = place.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 8, box["y"] + box["height"] / 2)


def dialog_of(page: Page, name: str) -> Locator:
    return page.get_by_role("dialog", name=name)


def test_clicks_outside_close_and_escape_frees_for_the_next_answer(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=plain_pages(12))
    page = assigned.open_page(context)
    outside = [
        page.locator("#left-frames"),
        page.get_by_role("button", name="Left is better"),
        page.get_by_role("button", name="Right is bad"),
        page.get_by_role("button", name="Undo"),
    ]
    for count, (key, name) in enumerate(DIALOGS.items(), 1):
        dialog = dialog_of(page, name)
        for place in outside:
            page.keyboard.press(key)
            expect(dialog).to_be_visible()
            click_over(page, place)
            expect(dialog).to_be_hidden()
        if key not in "nx":  # one that is only read is closed by its key
            page.keyboard.press(key)
            expect(dialog).to_be_visible()
            page.keyboard.press("ArrowLeft")
            page.keyboard.press(key)
            expect(dialog).to_be_hidden()
        frame_of(page, "left").locator("body").click()  # the keys are in the page now
        page.keyboard.press(key)
        expect(dialog).to_be_visible()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('dialog') !== null")
        dialog.get_by_role("heading").first.click()
        page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        press(page, "ArrowLeft", count)
    assert assigned.log() == [("answer", "left")] * len(DIALOGS)

    help_button = page.get_by_role("button", name="Help", exact=True)
    help_button.focus()
    for by_key in (True, False):
        page.keyboard.press("Enter")
        expect(dialog_of(page, "Help")).to_be_visible()
        if by_key:
            page.keyboard.press("Escape")
        else:
            page.get_by_role("button", name="Close help").click()
        expect(dialog_of(page, "Help")).to_be_hidden()
        expect(help_button).to_be_focused()

    page.keyboard.press("f")
    page.keyboard.type("cut")
    frame_of(page, "right").locator("body").click()
    page.keyboard.press("Escape")
    expect(page.locator("#finder")).to_be_hidden()
    press(page, "ArrowLeft", 6)
    resume = page.get_by_role("button", name="Resume")
    for key, name in {"": "", "x": "Flag", "?": "Help"}.items():
        page.keyboard.press("p")
        expect(resume).to_be_visible()
        if key:
            page.keyboard.press(key)
            expect(dialog_of(page, name)).to_be_visible()
            page.keyboard.press("Escape")
            expect(dialog_of(page, name)).to_be_hidden()
        click_over(page, page.get_by_role("button", name="Left is better"))
        page.mouse.click(40, 500)
        expect(resume).to_be_visible()
        page.keyboard.press("Escape")
        expect(resume).to_be_hidden()
    ready(page)
    page.keyboard.press("ArrowRight")
    answered(page, 7)


def test_a_browser_without_commands_of_buttons_opens_and_closes_dialogs(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    context.add_init_script(WITHOUT_COMMANDS)
    page = assigned.open_page(context)
    page.get_by_role("button", name="Help").click()
    expect(dialog_of(page, "Help")).to_be_visible()
    page.get_by_role("button", name="Close help").click()
    expect(dialog_of(page, "Help")).to_be_hidden()
    page.keyboard.press("n")
    expect(dialog_of(page, "Note")).to_be_visible()

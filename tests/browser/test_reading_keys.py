"""Reading by key: the active pane, scrolling, linked scrolling, and keys that never answer."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Body,
    Site,
    answered,
    frame_of,
    plain_pages,
    press,
    ready,
    saved,
    shows_what_it_asks,
)
from tests.browser.test_lists import list_assigned
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
FRAME = "document.querySelector('#{}-frames iframe:not(.frame--next)').contentWindow"
WIDE = Body(
    "<!doctype html><title>w</title><p id=p>Some words to select here.</p>"
    "<div id=t style='overflow-x:auto;width:300px'><table><tr>"
    + "".join(f"<td>column&nbsp;{n}</td>" for n in range(60))
    + "</table></div><form><input id=f></form>"
    + f"<pre>{LONG_TEXT}</pre>",
    "text/html",
)


def top(page: Page, side: str) -> float:
    return float(page.evaluate(f"() => {FRAME.format(side)}.scrollY"))


def scrolled(page: Page, side: str, condition: str) -> None:
    """Wait until the scroll position ``y`` of a side fulfils a condition."""
    page.wait_for_function(
        f"() => {{ const y = {FRAME.format(side)}.scrollY; return {condition}; }}"
    )


def nothing_answered(page: Page, assigned: AssignedWork) -> None:
    """Check that no answer is recorded or on the way; the answer that follows is the first."""
    answered(page, 0)
    saved(page)
    assert assigned.log() == []


def test_reading_keys_scroll_the_active_page(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=plain_pages(12))
    tab = assigned.open_page(context)
    ring = """side => getComputedStyle(document.getElementById(side), '::after').borderTopWidth
      + getComputedStyle(document.getElementById(side), '::after').content"""
    focused = "document.activeElement.tagName"
    assert tab.evaluate(focused) == "BODY"
    expect(tab.locator("#left")).to_have_attribute("aria-current", "true")
    assert tab.evaluate(ring, "left") == '2px""'
    assert tab.evaluate(ring, "right").endswith("none")
    for down, up in (("ArrowDown", "ArrowUp"), ("j", "k"), ("Space", "Shift+Space")):
        tab.keyboard.press(down)
        scrolled(tab, "left", "y > 20")
        tab.keyboard.press(up)
        scrolled(tab, "left", "y === 0")
    tab.keyboard.press("PageDown")
    scrolled(tab, "left", "y > 200")
    tab.keyboard.press("End")
    scrolled(tab, "left", "y > 1000")
    tab.keyboard.press("Home")
    scrolled(tab, "left", "y === 0")
    assert top(tab, "right") == 0
    nothing_answered(tab, assigned)
    for count, key in enumerate(("F6", "s"), 1):
        tab.keyboard.press(key)
        expect(tab.locator("#right")).to_have_attribute("aria-current", "true")
        expect(tab.locator("#left")).not_to_have_attribute("aria-current", "true")
        expect(tab.locator("#announce")).to_have_text("Right page is active.")
        before = top(tab, "left"), top(tab, "right")
        tab.keyboard.press("Space")
        scrolled(tab, "right", f"y > {before[1]} + 200")
        assert top(tab, "left") == before[0]
        press(tab, "ArrowLeft", count)
        expect(tab.locator("#right")).to_have_attribute("aria-current", "true")
        tab.keyboard.press(key)
        expect(tab.locator("#left")).to_have_attribute("aria-current", "true")

    frame_of(tab, "right").locator("body").click()
    tab.mouse.wheel(0, 400)
    expect(tab.locator("#right")).to_have_attribute("data-focused", "")
    expect(tab.locator("#right")).to_have_attribute("aria-current", "true")
    assert tab.evaluate(focused) == "IFRAME"
    assert tab.evaluate(ring, "right") == '3px""'
    tab.keyboard.press("Escape")
    expect(tab.locator("#right")).not_to_have_attribute("data-focused", "")
    for count, (side, key) in enumerate((("right", "ArrowRight"), ("left", "t")), 3):
        frame_of(tab, side).locator("body").click()
        press(tab, key, count)
    frame_of(tab, "left").locator("body").click()
    tab.keyboard.press("n")
    expect(tab.get_by_label("What should the researchers know?")).to_be_focused()
    tab.keyboard.type("left or right? u")
    tab.keyboard.press("Escape")
    press(tab, "ArrowLeft", 5)
    assert tab.evaluate(focused) == "BODY"
    for count, key in ((5, "j"), (6, "Space")):  # Space scrolls, and does not press Tie again
        ready(tab)
        before = top(tab, "left"), 0
        tab.keyboard.press(key)
        scrolled(tab, "left", f"y > {before[0]}")
        answered(tab, count)
        tab.get_by_role("button", name="Tie").click()
        answered(tab, count + 1)
    saved(tab)
    answers = ["left", "left", "right", "tie", "left", "tie", "tie"]
    assert [row.answer for row in assigned.rows()] == answers
    assert assigned.rows()[4].note == "left or right? u"


def test_linked_scrolling_moves_both_pages(tab: Page) -> None:
    link = tab.get_by_role("button", name="Link scrolling")
    expect(link).to_have_attribute("aria-pressed", "false")
    tab.keyboard.press("l")
    expect(link).to_have_attribute("aria-pressed", "true")
    tab.keyboard.press("Space")
    scrolled(tab, "left", "y > 200")
    scrolled(tab, "right", f"Math.abs(y - {top(tab, 'left')}) <= 1")
    frame_of(tab, "right").locator("body").hover()
    tab.mouse.wheel(0, 200)
    scrolled(tab, "right", f"y > {top(tab, 'left') + 1} || y > 600")
    tab.wait_for_function(
        f"() => Math.abs({FRAME.format('left')}.scrollY - {FRAME.format('right')}.scrollY) <= 1"
    )
    tab.reload()
    shows_what_it_asks(tab)
    expect(link).to_have_attribute("aria-pressed", "true")
    tab.keyboard.press("l")
    before = top(tab, "right")
    tab.keyboard.press("j")
    scrolled(tab, "left", f"y > {before}")
    assert top(tab, "right") == before


def test_keys_inside_a_page_never_answer_and_esc_always_returns_to_answering(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    pages = [Body(WIDE.data + str(number), "text/html") for number in range(6)]
    assigned = new_assigned(pages=pages)
    page = assigned.open_page(context)
    selected = f"() => {FRAME.format('right')}.getSelection().toString().length"
    frame_of(page, "right").locator("#p").click(position={"x": 20, "y": 8})
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function(f"() => ({selected})() === 1")
    nothing_answered(page, assigned)
    frame_of(page, "right").locator("#p").dblclick(position={"x": 20, "y": 8})
    for _ in range(4):
        page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function(f"() => ({selected})() >= 'Some'.length + 4")
    nothing_answered(page, assigned)
    frame_of(page, "right").locator("#t td").first.click()
    left = f"() => {FRAME.format('right')}.document.getElementById('t').scrollLeft"
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"() => ({left})() > 0")
    nothing_answered(page, assigned)
    page.keyboard.press("Escape")
    assert page.evaluate(selected) == 0
    press(page, "Shift+ArrowRight", 1)
    frame_of(page, "left").locator("#f").click()
    page.keyboard.type("t")
    page.keyboard.press("Escape")
    press(page, "ArrowLeft", 2)
    page.keyboard.press("h")
    expect(page.get_by_label("Highlight another term")).to_be_focused()
    page.keyboard.type("words")
    page.keyboard.press("Escape")
    press(page, "ArrowRight", 3)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume")).to_be_focused()
    for key in ("f", "Escape"):  # nothing is there to be found
        page.keyboard.press(key)
        expect(page.locator("#finder")).to_be_hidden()
    expect(page.locator("body")).to_be_focused()
    press(page, "ArrowRight", 4)
    assert [answer for _, answer in assigned.log()] == ["right_bad", "left", "right", "right"]


def test_a_graded_page_and_lists_scroll_by_key(
    new_assigned: Callable[..., AssignedWork], site: Site, context: BrowserContext
) -> None:
    graded = new_assigned(tool=Tool.GRADES).open_page(context)
    graded.keyboard.press("Space")
    scrolled(graded, "page", "y > 200")
    graded.context.clear_cookies()
    assigned = list_assigned(site, documents=30, k=25)
    page = assigned.open_page(context)
    lists = "() => ['left', 'right'].map(s => document.getElementById(s + '-list').scrollTop)"
    page.keyboard.press("j")
    page.wait_for_function(f"() => ({lists})()[0] > 20 && ({lists})()[1] === 0")
    page.keyboard.press("F6")
    page.keyboard.press("Space")
    page.wait_for_function(f"() => ({lists})()[1] > 100")
    page.locator("#left-list a").first.click()
    reader = "document.querySelector('#reader iframe')"
    page.wait_for_function(f"() => {reader}?.dataset.ready === '1'")
    for key in ("j", "Space", "ArrowDown"):
        before = page.evaluate(f"() => {reader}.contentWindow.scrollY")
        page.keyboard.press(key)
        page.wait_for_function(f"was => {reader}.contentWindow.scrollY > was", arg=before)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("t")
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "same")]


PRESS = """([key, code, shiftKey]) => document.body.dispatchEvent(
  new KeyboardEvent('keydown', { key, code, shiftKey, bubbles: true, cancelable: true }))"""


LAYOUTS = [
    ("ç", "Digit9", False, "left_unjudgeable"),  # AZERTY, without Shift
    ("9", "Digit9", True, "left_unjudgeable"),  # AZERTY, with Shift
    ("à", "Digit0", False, "right_unjudgeable"),
    ("е", "KeyT", False, "tie"),  # Cyrillic
    ("א", "KeyT", False, "tie"),  # Hebrew
    ("t", "KeyK", False, "tie"),  # Dvorak: the letter counts, not its place
]


def test_keys_work_on_every_keyboard_and_can_be_chosen(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=plain_pages(12))
    page = assigned.open_page(context)
    for count, (key, code, shift, _) in enumerate(LAYOUTS, 1):
        page.evaluate(PRESS, ["(", "Digit9", True])  # QWERTY: Shift+9 is a bracket
        page.evaluate(PRESS, [key, code, shift])
        answered(page, count)
        saved(page)
        ready(page)
    assert assigned.log() == [("answer", answer) for *_, answer in LAYOUTS]

    count = len(LAYOUTS)
    page.keyboard.press("?")
    page.get_by_label("Single-letter keys are on").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    shows_what_it_asks(page)
    for key in ("t", "p", "u", "?"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    answered(page, count)
    press(page, "ArrowLeft", count + 1)
    page.get_by_role("button", name="Help", exact=True).click()
    page.get_by_label("Single-letter keys are").check()

    page.get_by_role("link", name="Change the keys").click()
    page.get_by_label("Left is better").select_option("A")
    page.get_by_label("Tie, or the same").select_option("A")
    page.get_by_role("button", name="Save keys").click()
    expect(page.get_by_role("alert")).to_contain_text("both use A")
    page.get_by_label("Tie, or the same").select_option("T")
    page.get_by_role("button", name="Save keys").click()
    ready(page)
    left = page.get_by_role("button", name="Left is better", exact=True)
    expect(left.locator(".key")).to_have_text("A")
    page.keyboard.press("ArrowLeft")
    press(page, "a", count + 2)
    assert assigned.log()[count:] == [("answer", "left")] * 2
    page.keyboard.press("?")
    expect(page.locator("#help .keys__row").first.locator("kbd")).to_have_text("A")
    page.get_by_role("link", name="Change the keys").click()
    page.get_by_role("button", name="Use the default keys").click()
    ready(page)
    expect(left.locator(".key")).to_have_text("←")

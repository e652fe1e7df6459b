"""Reading by key: the active pane, scrolling, linked scrolling, and keys that never answer."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.browser.assigned_work import (
    LONG_TEXT,
    AssignedWork,
    Body,
    Site,
    answered,
    frame_of,
    make_assigned,
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


@pytest.fixture
def assigned(new_assigned: Callable[..., AssignedWork]) -> AssignedWork:
    return new_assigned()


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


def test_a_fresh_pair_scrolls_by_every_reading_key(assigned: AssignedWork, tab: Page) -> None:
    assert tab.evaluate("document.activeElement.tagName") == "BODY"
    expect(tab.locator("#left")).to_have_attribute("aria-current", "true")
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


@pytest.mark.parametrize("key", ["F6", "s"])
def test_another_key_switches_the_active_page(tab: Page, key: str) -> None:
    tab.keyboard.press(key)
    expect(tab.locator("#right")).to_have_attribute("aria-current", "true")
    expect(tab.locator("#left")).not_to_have_attribute("aria-current", "true")
    expect(tab.locator("#announce")).to_have_text("Right page is active.")
    tab.keyboard.press("Space")
    scrolled(tab, "right", "y > 200")
    assert top(tab, "left") == 0
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    expect(tab.locator("#right")).to_have_attribute("aria-current", "true")
    tab.keyboard.press(key)
    expect(tab.locator("#left")).to_have_attribute("aria-current", "true")


def test_a_ring_shows_the_active_page_and_a_focused_frame(tab: Page) -> None:
    ring = """side => getComputedStyle(document.getElementById(side), '::after').borderTopWidth
      + getComputedStyle(document.getElementById(side), '::after').content"""
    assert tab.evaluate(ring, "left") == '2px""'
    assert tab.evaluate(ring, "right").endswith("none")
    frame_of(tab, "right").locator("body").click()
    expect(tab.locator("#right")).to_have_attribute("data-focused", "")
    expect(tab.locator("#right")).to_have_attribute("aria-current", "true")
    assert tab.evaluate(ring, "right") == '3px""'
    tab.keyboard.press("Escape")
    expect(tab.locator("#right")).not_to_have_attribute("data-focused", "")


def test_after_an_answer_the_keys_still_scroll(tab: Page) -> None:
    frame_of(tab, "left").locator("body").click()
    tab.keyboard.press("ArrowRight")
    answered(tab, 1)
    ready(tab)
    assert tab.evaluate("document.activeElement.tagName") == "BODY"
    before = top(tab, "left")
    tab.keyboard.press("j")
    scrolled(tab, "left", f"y > {before}")
    tab.get_by_role("button", name="Tie").click()
    answered(tab, 2)
    ready(tab)
    before = top(tab, "left")
    tab.keyboard.press("Space")  # scrolls, and does not press the button again
    scrolled(tab, "left", f"y > {before}")
    answered(tab, 2)


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


def test_keys_that_select_or_scroll_inside_a_page_never_answer(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=[WIDE, Body(WIDE.data + "2", "text/html")])
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
    page.keyboard.press("Shift+ArrowRight")
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert assigned.log() == [("answer", "right_bad")]


def test_esc_always_returns_to_answering(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(
        pages=[WIDE, *(Body(WIDE.data + str(n), "text/html") for n in range(5))]
    )
    page = assigned.open_page(context)
    frame_of(page, "left").locator("#f").click()
    page.keyboard.type("t")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    answered(page, 1)
    page.keyboard.press("h")
    expect(page.get_by_label("Highlight another term")).to_be_focused()
    page.keyboard.type("words")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    answered(page, 2)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name="Resume")).to_be_focused()
    for key in ("f", "Escape"):  # nothing is there to be found
        page.keyboard.press(key)
        expect(page.locator("#finder")).to_be_hidden()
    expect(page.locator("body")).to_be_focused()
    press(page, "ArrowRight", 3)
    assert [answer for _, answer in assigned.log()] == ["left", "right", "right"]


def test_a_highlight_that_comes_late_neither_blanks_the_pages_nor_holds_back_an_answer(
    assigned: AssignedWork, tab: Page
) -> None:
    seen_again = """() => {
      window.refusals = [];
      new MutationObserver(() => {
        if (document.querySelector('#answers').dataset.seen === undefined) refusals.push('answers');
        if (document.querySelector('.frame--loading:not(.frame--next)')) refusals.push('page');
      }).observe(document, {attributes: true, subtree: true, childList: true});
    }"""
    held: list[Route] = []

    def hold(route: Route) -> None:
        if not held and "hx-request" in route.request.headers:
            held.append(route)
        else:
            route.continue_()

    tab.route(f"**/assignments/{assigned.assignment.id}", hold)
    tab.keyboard.press("h")
    tab.keyboard.type("wrap")
    tab.keyboard.press("Enter")
    expect(tab.get_by_label("Stop highlighting wrap")).to_have_count(1)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    saved(tab)
    ready(tab)
    tab.evaluate(seen_again)
    held[0].continue_()
    expect(frame_of(tab, "left").locator("mark[data-mark]").first).to_be_attached()
    assert tab.evaluate("window.refusals") == []


def test_after_a_highlight_or_a_drag_the_keys_answer(assigned: AssignedWork, tab: Page) -> None:
    tab.keyboard.press("h")
    tab.keyboard.type("wrap")
    tab.keyboard.press("Enter")
    expect(tab.get_by_label("Stop highlighting wrap")).to_have_count(1)
    ready(tab)
    tab.keyboard.press("ArrowLeft")
    answered(tab, 1)
    box = tab.get_by_role("separator").bounding_box()
    assert box is not None
    tab.mouse.move(box["x"] + 5, box["y"] + 200)
    tab.mouse.down()
    tab.mouse.move(800, box["y"] + 200, steps=3)
    tab.mouse.up()
    tab.keyboard.press("ArrowRight")
    answered(tab, 2)
    saved(tab)
    assert assigned.log() == [("answer", "left"), ("answer", "right")]


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


def test_keys_work_on_every_keyboard(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=plain_pages(12))
    tab = assigned.open_page(context)
    for count, (key, code, shift, _) in enumerate(LAYOUTS, 1):
        tab.evaluate(PRESS, ["(", "Digit9", True])  # QWERTY: Shift+9 is a bracket
        tab.evaluate(PRESS, [key, code, shift])
        answered(tab, count)
        saved(tab)
        ready(tab)
    assert assigned.log() == [("answer", answer) for *_, answer in LAYOUTS]


def test_a_person_chooses_the_keys(site: Site, context: BrowserContext) -> None:
    assigned = make_assigned(site)
    page = assigned.open_page(context)
    page.keyboard.press("?")
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
    page.keyboard.press("a")
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "left")]
    page.keyboard.press("?")
    expect(page.locator("#help .keys__row").first.locator("kbd")).to_have_text("A")
    page.get_by_role("link", name="Change the keys").click()
    page.get_by_role("button", name="Use the default keys").click()
    ready(page)
    expect(left.locator(".key")).to_have_text("←")

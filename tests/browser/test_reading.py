"""Highlights, text sizes, the divider, where focus is, and tool T2."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Body,
    answered,
    frame_of,
    moved_on,
    press,
    question_of,
    ready,
    saved,
    shows_what_it_asks,
)
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser
SHOWN = "document.querySelector('#left-frames iframe:not(.frame--next)')"
KINDS = [
    Body("Cut TULIPS stand.\n\nA tulip & <b>vase</b>.", "text/plain"),
    Body("# Tulips\n\nSome *tulips* and `code`.\n\n<script>x</script>", "text/markdown"),
    Body(
        "<!doctype html><title>t</title><p style='width:100px'>HTML tulips</p>"
        "<script>tulips</script>",
        "text/html",
    ),
]
WIDTH = """() => [...document.querySelectorAll('.frames iframe:not(.frame--next)')]
  .map((frame) => frame.contentDocument.querySelector('p[style]')?.getBoundingClientRect().width)
  .find(Boolean)"""


@pytest.fixture
def assigned(new_assigned: Callable[..., AssignedWork]) -> AssignedWork:
    return new_assigned()


def test_pages_of_every_kind_are_shown_marked_and_sized(
    new_assigned: Callable[..., AssignedWork], context: BrowserContext
) -> None:
    assigned = new_assigned(pages=KINDS, text="cut tulips")
    page = assigned.open_page(context)
    seen: dict[str, str] = {}
    larger = page.locator("[data-size-step='1']")  # hidden in the narrow header
    while page.locator("#answers").count():
        for side in ("left", "right"):
            shown = frame_of(page, side)
            marks = shown.locator("mark").all_inner_texts()
            seen[shown.locator("body").inner_text()] = "|".join(marks)
            light = page.locator(f"#{side}-frames iframe:not(.frame--next)").get_attribute("class")
            assert "frame--light" in str(light), "one page of the query is HTML, so all are light"
        if page.evaluate(WIDTH) == 100:
            page.keyboard.press("+")
            page.keyboard.press("+")
            expect(larger).to_be_disabled()
            assert page.evaluate(WIDTH) > 120
        before = question_of(page)
        page.keyboard.press("ArrowLeft")
        moved_on(page, before)
        if page.locator("#answers").count():
            saved(page)
            ready(page)
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    by_start = {text.split()[0]: marks for text, marks in seen.items()}
    assert by_start == {"Cut": "Cut|TULIPS", "Tulips": "Tulips|tulips", "HTML": "tulips"}


def test_own_terms_persist_and_keep_the_place(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    page = assigned.open_page(context)
    field = page.get_by_label("Highlight another term")
    field.fill("  ")
    field.press("Enter")
    expect(page.get_by_text("Type a word or a phrase to highlight.")).to_be_visible()
    frame_of(page, "left").locator("body").click()
    page.mouse.wheel(0, 300)
    scroll = f"() => {SHOWN}.contentWindow.scrollY"
    page.wait_for_function(f"() => ({scroll})() > 100")
    scrolled = page.evaluate(scroll)
    field.fill("wrap")
    field.press("Enter")
    expect(frame_of(page, "left").locator("mark", has_text="wrap").first).to_be_attached()
    page.wait_for_function("was => ({scroll})() === was".replace("{scroll}", scroll), arg=scrolled)
    expect(page.get_by_label("Highlight another term")).not_to_be_focused()
    page.get_by_label("Stop highlighting cut").click()
    expect(page.get_by_label("Stop highlighting cut")).to_have_count(0)
    expect(frame_of(page, "left").locator("mark", has_text="cut")).to_have_count(0)
    ready(page)
    press(page, "ArrowLeft", 1)  # the keys answer
    expect(frame_of(page, "right").locator("mark", has_text="wrap").first).to_be_attached()
    page.reload()
    shows_what_it_asks(page)
    expect(page.get_by_label("Stop highlighting wrap")).to_have_count(1)
    expect(page.get_by_label("Stop highlighting cut")).to_have_count(0)


def test_text_size_and_divider_are_remembered(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    page = assigned.open_page(context)
    size = f"() => getComputedStyle({SHOWN}.contentDocument.documentElement).fontSize"
    before = page.evaluate(size)
    page.get_by_role("button", name="Larger text").click()
    larger = page.evaluate(size)
    assert float(larger[:-2]) > float(before[:-2])
    divider = page.get_by_role("separator")
    divider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "44")
    assert assigned.log() == [], "while the divider has focus the arrows do not answer"
    box = divider.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(1440 * 0.6, box["y"] + 220, steps=4)
    page.mouse.up()
    expect(divider).to_have_attribute("aria-valuenow", "60")
    press(page, "ArrowRight", 1)  # after a drag they do
    ready(page)
    assert page.evaluate(size) == larger
    page.reload()
    shows_what_it_asks(page)
    assert page.evaluate(size) == larger
    left = page.locator("#left").bounding_box()
    assert left is not None
    assert abs(left["width"] - 1440 * 0.6) < 15
    assert assigned.log() == [("answer", "right")]


def tab_order(page: Page) -> list[str]:
    """Return the names of what the Tab key visits, in order."""
    order: list[str] = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name = page.evaluate(
            """() => { const e = document.activeElement;
              return e.tagName === 'IFRAME' ? e.title.split(':')[0]
                : e.getAttribute('aria-label') ?? e.textContent.trim().replace(/\\s+/g, ' '); }"""
        )
        if order and name == order[0]:
            break
        order.append(name)
    return order


def test_tab_goes_from_the_bar_to_the_answers_and_focus_stays_where_it_was_pressed(
    assigned: AssignedWork, context: BrowserContext
) -> None:
    page = assigned.open_page(context)
    assert page.evaluate("document.activeElement.tagName") == "BODY"
    order = tab_order(page)
    wanted = [
        "Skip to the answers", "Pause P", "Highlight another term", "Guidelines G",
        "Cannot judge left", "Left page", "Width of the left page", "Right page",
        "←Left is better", "Tie T", "Right is better→", "Note N", "Help ?",
    ]  # fmt: skip
    positions = [order.index(name) for name in wanted]
    assert positions == sorted(positions)
    for count, name in enumerate(("Left is better", "Right is bad", "Undo"), 1):
        button = page.get_by_role("button", name=name, exact=True)
        button.focus()
        page.keyboard.press("Enter")
        answered(page, count if name != "Undo" else count - 2)
        saved(page)
        expect(button).to_be_focused()


def test_grades_by_key(new_assigned: Callable[..., AssignedWork], context: BrowserContext) -> None:
    assigned = new_assigned(tool=Tool.GRADES)
    page = assigned.open_page(context)
    for name in ("bad", "fair", "good", "excellent", "perfect"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_count(1)
    first = question_of(page)
    for count, key in enumerate(["1", "5", "3"], 1):
        page.keyboard.press(key)
        answered(page, count)
        saved(page)
    page.keyboard.press("u")
    answered(page, 2)
    saved(page)
    page.get_by_role("button", name="Cannot judge").click()
    answered(page, 3)
    saved(page)
    assert question_of(page) != first
    for key in "44":
        count += 1
        page.keyboard.press(key)
        answered(page, count)
        saved(page)
    page.keyboard.press("2")
    expect(page.get_by_role("heading", name="Your grades")).to_be_visible()
    answers = [answer for _, answer in assigned.log()]
    assert answers == [
        "bad",
        "perfect",
        "good",
        None,
        "unjudgeable",
        "excellent",
        "excellent",
        "fair",
    ]
    expect(page.locator(".ranked .badge").first).to_have_text("perfect")

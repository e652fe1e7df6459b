"""Passages that an assessor marks in a page."""

from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    frame_of,
    make_assigned,
    saved,
    select_text,
    shows_what_it_asks,
)
from tests.browser.looks import barriers, flaws

pytestmark = pytest.mark.browser
MARKED = """() => Object.fromEntries(
  [...document.querySelectorAll('.frames iframe:not(.frame--next)')].map((frame) => [
    frame.dataset.name,
    [...(frame.contentWindow.CSS.highlights.get('topkapi-passage') ?? [])].map(String),
  ]).filter(([, texts]) => texts.length))"""


def left_of(page: Page) -> str:
    return page.locator("#entry [name=left]").input_value()


def expect_marked(page: Page, wanted: dict[str, list[str]]) -> None:
    page.wait_for_function(
        f"wanted => JSON.stringify(({MARKED})()) === JSON.stringify(wanted)", arg=wanted
    )


def test_a_marked_passage_comes_back_with_its_page(
    assigned: AssignedWork, tab: Page, context: BrowserContext
) -> None:
    first = left_of(tab)
    tab.keyboard.press("m")
    expect(tab.get_by_text("Nothing is selected.")).to_be_visible()
    assert (barriers(tab), flaws(tab)) == ([], [])
    select_text(tab, "#left-frames", "Paragraph 2. Water")
    tab.get_by_role("button", name="Mark", exact=True).click()
    marked: dict[str, Any] = {first: ["Paragraph 2. Water"]}
    expect_marked(tab, marked)
    expect(tab.get_by_text("Nothing is selected.")).to_be_hidden()
    tab.keyboard.press("ArrowLeft")  # the keys answer again, and the page that was chosen may stay
    answered(tab, 1)
    saved(tab)
    tab.keyboard.press("u")
    answered(tab, 0)
    assert left_of(tab) == first
    expect_marked(tab, marked)
    tab.reload()
    shows_what_it_asks(tab)
    expect_marked(tab, marked)
    tab.keyboard.press("h")
    tab.keyboard.type("water")  # marks of terms change the page, but not its text
    tab.keyboard.press("Enter")
    expect(frame_of(tab, "left").locator("mark").first).to_have_text("Water")
    expect_marked(tab, marked)
    other = make_assigned(assigned.site)
    context.add_cookies([assigned.site.cookie(other.user)])
    theirs = other.open_page(context)
    expect_marked(theirs, {})


def test_by_keyboard_the_sentence_of_a_hit_is_marked_and_unmarked(
    postgresql_site: Site, context: BrowserContext
) -> None:
    tab = make_assigned(postgresql_site).open_page(context)
    tab.keyboard.press(".")  # the first highlighted term
    for wanted in ({left_of(tab): ["Water, cut, wrap, wait."]}, {}):
        tab.keyboard.press("m")
        expect_marked(tab, wanted)

"""Judging on a phone: one page at a time, by touch."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.assigned_work import Site, answered, make_assigned, saved
from tests.browser.test_lists import list_assigned

pytestmark = pytest.mark.browser
UNDERLINES = """() => [...document.querySelectorAll('.panetabs a')]
  .map((tab) => getComputedStyle(tab).borderBottomColor)"""
DOTS = """() => [...document.querySelectorAll('.panetabs a')]
  .map((tab) => getComputedStyle(tab, '::after').content !== 'none')"""
SHADOWS = "all => all.map((e) => getComputedStyle(e).boxShadow)"


def test_a_phone_shows_one_page_at_a_time(site: Site, phone: BrowserContext) -> None:
    page = make_assigned(site).open_page(phone)
    left, right = page.locator("#left"), page.locator("#right")
    tab = page.get_by_role("link", name="Right page")
    expect(left).to_be_in_viewport(ratio=0.9)
    expect(right).not_to_be_in_viewport()
    expect(page.locator("#panetabs .badge--new")).to_have_count(2)
    new = page.locator("#left-title .badge--new")
    expect(new).to_have_attribute("title", "You have not seen this page yet")
    chosen, other = page.evaluate(UNDERLINES)
    assert chosen != other, "only one tab looks selected"
    assert page.evaluate(DOTS) == [False, True], "the other page was not yet looked at"
    shadows = page.locator(".answer").evaluate_all(SHADOWS)
    tab.tap()
    expect(right).to_be_in_viewport(ratio=0.9)
    expect(tab).to_have_attribute("aria-current", "true")
    assert page.evaluate(UNDERLINES) == [other, chosen]
    page.wait_for_function(f"() => !({DOTS})().includes(true)")
    page.get_by_role("button", name="Pause").tap()
    page.get_by_role("button", name="Resume").tap()
    expect(page.locator("#right .frames")).to_be_in_viewport(ratio=0.9)
    expect(tab).to_have_attribute("aria-current", "true")

    page.get_by_role("button", name="Help").tap()
    dialog = page.get_by_role("dialog", name="Help")
    expect(dialog.get_by_text("The left page helps more with this query.")).to_be_visible()
    expect(dialog.get_by_text("A page you have not seen yet")).to_be_hidden()
    expect(dialog.get_by_label("Single-letter keys are on")).to_be_hidden()
    dialog.get_by_text("All actions").tap()
    expect(dialog.get_by_text("A page you have not seen yet")).to_be_visible()
    expect(dialog.locator("kbd").first).not_to_be_visible()
    expect(dialog.get_by_text("Link scrolling")).not_to_be_visible()
    page.get_by_role("button", name="Close help").tap()

    seen = page.locator("#entry [name=left]").input_value()
    page.get_by_role("button", name="Right is better").tap()
    answered(page, 1)
    saved(page)
    expect(page.locator(".answer[aria-pressed]")).to_have_count(0)
    assert page.locator(".answer").evaluate_all(SHADOWS) == shadows, "a finger leaves no hover"
    is_new = page.locator("#entry [name=left]").input_value() != seen
    page.wait_for_function(f"wanted => ({DOTS})()[0] === wanted", arg=is_new)
    page.go_back()  # the tabs added no history entries
    assert page.url == "about:blank"


def test_on_a_phone_the_lists_are_a_strip_with_tabs(site: Site, phone: BrowserContext) -> None:
    assigned = list_assigned(site)
    page = assigned.open_page(phone)
    expect(page.locator("#left-list")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("link", name="Right list").tap()
    expect(page.locator("#right-list")).to_be_in_viewport(ratio=0.9)
    page.get_by_role("button", name="Right better", exact=True).tap()
    answered(page, 1)
    saved(page)
    assert assigned.log() == [("answer", "right")]

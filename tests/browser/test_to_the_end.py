"""Every tool is judged to its end by key, by mouse and by touch, at every size and contrast."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    make_assigned,
    moved_on,
    plain_pages,
    question_of,
    seen,
    shows_what_it_asks,
)
from tests.browser.looks import barriers, flaws
from tests.browser.test_lists import list_assigned
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.browser

Act = Callable[[Page, str, str], None]
NAMES = {Tool.PAIRS: "Right is better", Tool.GRADES: "good", Tool.LISTS: "Right better"}
KEYS = {Tool.PAIRS: "ArrowRight", Tool.GRADES: "3", Tool.LISTS: "ArrowRight"}


def by_key(page: Page, _name: str, key: str) -> None:
    page.keyboard.press(key)


def by_mouse(page: Page, name: str, _key: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def by_touch(page: Page, name: str, _key: str) -> None:
    page.get_by_role("button", name=name, exact=True).tap()


def window(width: int, height: int, **more: Any) -> dict[str, Any]:
    return {"viewport": {"width": width, "height": height}, **more}


PHONE = window(390, 844, has_touch=True, is_mobile=True)
MOUSE, TOUCH = (by_mouse, window(1440, 900)), (by_touch, PHONE)
DARK = (by_mouse, window(1024, 768, color_scheme="dark"))
DARK_TOUCH = (by_touch, {**PHONE, "color_scheme": "dark"})
ZOOMED = (by_key, window(720, 450, device_scale_factor=2))
HIGH_CONTRAST = (by_key, window(1440, 900, forced_colors="active"))
# Each way with a tool, and each tool by mouse, by touch and by key.
WAYS: dict[Tool, dict[str, tuple[Act, dict[str, Any]]]] = {
    Tool.PAIRS: {"mouse": MOUSE, "touch, dark": DARK_TOUCH, "keys, 200 %": ZOOMED},
    Tool.GRADES: {"mouse": MOUSE, "touch": TOUCH, "keys, high contrast": HIGH_CONTRAST},
    Tool.LISTS: {"mouse": MOUSE, "mouse, dark": DARK, "touch": TOUCH, "keys, 200 %": ZOOMED},
}
CASES = [
    pytest.param(tool, way, marks=[pytest.mark.thorough] if way != "mouse" else [])
    for tool, ways in WAYS.items()
    for way in ways
]


def assigned_with(site: Site, tool: Tool) -> AssignedWork:
    if tool is Tool.LISTS:
        return list_assigned(site, systems=2)
    return make_assigned(site, tool=tool, pages=plain_pages(3), k=1)


def divider_follows_the_arrows(page: Page) -> None:
    """Move the divider to the left and back."""
    divider = page.get_by_role("separator")
    divider.press("ArrowLeft")
    expect(divider).to_have_attribute("aria-valuenow", "48")
    divider.press("ArrowRight")
    expect(divider).to_have_attribute("aria-valuenow", "50")


@pytest.mark.parametrize(("tool", "way"), CASES)
def test_a_query_is_judged_to_its_end(
    site: Site, new_context: Callable[..., BrowserContext], tool: Tool, way: str
) -> None:
    act, kind = WAYS[tool][way]
    context = new_context(**kind)
    assigned = assigned_with(site, tool)
    page = assigned.open_page(context)
    assert (barriers(page), flaws(page)) == ([], [])
    if (tool, way) == (Tool.PAIRS, "mouse"):
        divider_follows_the_arrows(page)
    for _ in range(10):
        seen(page)
        if page.locator("#answers").count() == 0:
            break
        if tool is not Tool.LISTS:
            shows_what_it_asks(page)
        before = question_of(page)
        act(page, NAMES[tool], KEYS[tool])
        moved_on(page, before)
        page.wait_for_load_state()
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert {row.answer for row in assigned.rows()} == {"good" if tool is Tool.GRADES else "right"}

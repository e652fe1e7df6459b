"""Every tool is judged to its end by key, by mouse and by touch, at every size and contrast."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

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
WAYS: dict[str, tuple[Act, dict[str, Any]]] = {
    "mouse, 1440": (by_mouse, window(1440, 900)),
    "mouse, 1024, dark": (by_mouse, window(1024, 768, color_scheme="dark")),
    "touch, 390": (by_touch, PHONE),
    "touch, 390, dark": (by_touch, {**PHONE, "color_scheme": "dark"}),
    "keys, zoom of 200 %": (by_key, window(720, 450, device_scale_factor=2)),
    "keys, high contrast": (by_key, window(1440, 900, forced_colors="active")),
}
FIRST, *OTHERS = WAYS


def assigned_with(site: Site, tool: Tool) -> AssignedWork:
    if tool is Tool.LISTS:
        return list_assigned(site, systems=2)
    return make_assigned(site, tool=tool, pages=plain_pages(3), k=1)


@pytest.mark.parametrize("tool", Tool)
@pytest.mark.parametrize(
    "way", [FIRST, *(pytest.param(way, marks=pytest.mark.thorough) for way in OTHERS)]
)
def test_a_query_is_judged_to_its_end(site: Site, browser: Browser, tool: Tool, way: str) -> None:
    act, kind = WAYS[way]
    context = browser.new_context(**kind)
    assigned = assigned_with(site, tool)
    page = assigned.open_page(context)
    assert (barriers(page), flaws(page)) == ([], [])
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
    context.close()

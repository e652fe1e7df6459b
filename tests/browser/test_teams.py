"""Two people on one query: each sees what the other does, and both get one list."""

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    make_assigned,
    make_colleague,
    pair_of,
    press,
    ready,
    saved,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def team(any_site: Site) -> tuple[AssignedWork, AssignedWork]:
    first = make_assigned(any_site, k=3, sorter="robust", budget=5, together=True)
    return first, make_colleague(first)


def progress(page: Page, answered: int) -> None:
    bar = page.locator("#progress")
    expect(bar).to_contain_text(f"{answered} of 5 by team, {5 - answered} left")
    said = f"{answered} of 5 questions answered by your team, {5 - answered} left"
    expect(bar).to_have_attribute("aria-valuetext", said)


def listed(page: Page) -> list[str]:
    expect(page.get_by_role("heading", name="Your team's top 3")).to_be_visible()
    return page.locator("ol.ranked li h3").all_inner_texts()


def test_two_people_make_one_list(
    team: tuple[AssignedWork, AssignedWork], context: BrowserContext, browser: Browser
) -> None:
    first, second = team
    elsewhere = browser.new_context()
    ansa, bela = first.open_page(context), second.open_page(elsewhere)
    assert set(pair_of(ansa)) != set(pair_of(bela)), "nobody is asked what the other reads"
    progress(ansa, 0)
    press(ansa, "ArrowLeft", 1)
    press(ansa, "ArrowRight", 2)
    press(bela, "ArrowLeft", 3)
    progress(bela, 3)
    bela.set_viewport_size({"width": 390, "height": 844})
    expect(bela.get_by_role("button", name="Pause")).to_be_in_viewport(ratio=1)
    bela.set_viewport_size({"width": 1440, "height": 900})
    ansa.reload()
    ready(ansa)
    progress(ansa, 3)
    reading = pair_of(bela)
    press(ansa, "ArrowLeft", 4)
    ready(ansa)
    ansa.keyboard.press("ArrowLeft")
    expect(ansa.get_by_text("Finished and saved")).to_be_visible()
    assert pair_of(bela) == reading, "nothing jumps under the eyes of a reader"
    bela.keyboard.press("ArrowRight")
    expect(bela.get_by_text("Finished and saved")).to_be_visible()
    assert [answer for _, answer in second.log()] == ["left", "right"], "the answer counts"
    ansa.reload()
    final = listed(bela)
    assert listed(ansa) == final
    ansa.get_by_role("button", name="Undo last answer").click()
    ready(ansa)
    ansa.keyboard.press("u")
    answered(ansa, 4)
    saved(ansa)
    bela.reload()
    ready(bela)
    progress(bela, 4)
    bela.keyboard.press("ArrowLeft")
    expect(bela.get_by_text("Finished and saved")).to_be_visible()
    elsewhere.close()

"""Two people on one query: each sees what the other does, and both get one list."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    make_assigned,
    make_colleague,
    pair_of,
    plain_pages,
    press,
    ready,
    saved,
)
from tests.browser.looks import sound
from tests.browser.page_clock import looks_again, pass_time

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
    team: tuple[AssignedWork, AssignedWork], new_context: Callable[..., BrowserContext]
) -> None:
    first, second = team
    ansa, bela = first.open_page(new_context()), second.open_page(new_context())
    assert set(pair_of(ansa)) != set(pair_of(bela)), "nobody is asked what the other reads"
    progress(ansa, 0)
    press(ansa, "ArrowLeft", 1)
    press(ansa, "ArrowRight", 2)
    press(bela, "ArrowLeft", 3)
    progress(bela, 3)
    bela.set_viewport_size({"width": 390, "height": 844})
    expect(bela.get_by_role("button", name="Pause")).to_be_in_viewport(ratio=1)
    bela.set_viewport_size({"width": 1440, "height": 900})
    before = pair_of(ansa)
    pass_time(ansa, 16_000)  # a heartbeat of the page
    progress(ansa, 3)
    assert pair_of(ansa) == before
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


def test_who_waits_gets_the_pair_that_becomes_free(
    site: Site, new_context: Callable[..., BrowserContext]
) -> None:
    """Of two pages there is one pair: while one member reads it, the other waits."""
    pages = plain_pages(2)
    first = make_assigned(site, pages=pages, k=1, sorter="robust", budget=5, together=True)
    second = make_colleague(first)
    elsewhere = new_context()
    ansa = first.open_page(new_context())
    second.sign_in(elsewhere)
    bela = elsewhere.new_page()
    bela.goto(second.url)
    waits = bela.get_by_text("Waiting for your team")
    expect(waits).to_be_visible()
    sound(bela, "team-waits")
    with bela.expect_response(second.url):  # it looks again, and nothing has changed
        looks_again(bela)
    expect(waits).to_be_visible()
    bela.keyboard.press("Enter")
    expect(bela.get_by_role("heading", name="Your queue")).to_be_visible()
    expect(bela.get_by_text("Waiting for your team")).to_be_visible()
    sound(bela, "queue-waits")
    bela.get_by_role("link", name="Wait there").click()
    expect(waits).to_be_visible()
    with ansa.expect_response("**/timer"):
        ansa.keyboard.press("p")
    looks_again(bela)
    ready(bela)
    expect(bela.locator("#progress")).to_contain_text("0 of 1 by team, 1 left")
    bela.keyboard.press("ArrowLeft")
    expect(bela.get_by_text("Finished and saved")).to_be_visible()

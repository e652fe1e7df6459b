"""Sessions with the sorter `robust`: answers by key, undo, leaving, resuming, the result."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.assigned_work import (
    AssignedWork,
    Site,
    answered,
    make_assigned,
    pair_of,
    press,
    question_of,
    ready,
    saved,
    seen,
)

pytestmark = pytest.mark.browser
BUDGET = 9


def better(page: Page) -> str:
    """Return the key that prefers the page with the greater number in its title."""
    left, right = (int(title.rsplit(" ", 1)[1]) for title in pair_of(page))
    return "ArrowLeft" if left > right else "ArrowRight"


def answer(page: Page, count: int, key: str | None = None) -> None:
    press(page, key or better(page), count)


@pytest.fixture
def robust(postgresql_site: Site) -> AssignedWork:
    return make_assigned(postgresql_site, k=3, sorter="robust", budget=BUDGET)


def test_a_sampled_query_is_judged_to_its_end_by_keys_alone(
    robust: AssignedWork, context: BrowserContext
) -> None:
    page = robust.open_page(context)
    progress = page.locator("#progress")
    expect(progress).to_contain_text(f"0 of {BUDGET} answered, {BUDGET} left")
    answer(page, 1)
    answer(page, 2)
    asked = question_of(page)
    shown = pair_of(page)
    answer(page, 3, "ArrowLeft")
    page.keyboard.press("u")
    answered(page, 2)
    saved(page)
    assert pair_of(page) == shown, "undo shows the pair that was answered"
    page.close()
    page = robust.open_page(context)
    answered(page, 2)
    assert pair_of(page) == shown, "and so does a resumed session"
    assert asked.partition("&")[2] in question_of(page)
    for count in range(3, BUDGET):
        ready(page)
        answer(page, count)
    expect(page.locator("#progress")).to_contain_text("1 left")
    before = question_of(page)
    page.close()
    page = robust.open_page(context)
    assert question_of(page) == before
    page.keyboard.press(better(page))
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert [entry for entry, _ in robust.log()].count("undo") == 1
    assert len(robust.log()) == BUDGET + 2
    check_result(page)
    reopened(page)
    check_result(page)


def check_result(page: Page) -> None:
    """Check the list with each page's probability and rank interval, and its reliability."""
    expect(page.get_by_role("heading", name="Your top 3")).to_be_visible()
    expect(page.get_by_role("heading", name="How reliable this list is")).to_be_visible()
    listed = page.locator("ol.ranked li")
    expect(listed).to_have_count(3)
    for number in range(3):
        confidence = listed.nth(number).locator(".sureness")
        expect(confidence).to_have_text(re.compile(r"\d+ %\s*rank \d( to \d)?"))
    figures = page.locator("section", has=page.get_by_role("heading", name="How reliable")).first
    expect(figures).to_contain_text(re.compile(r"Expected quality\s*\d+ %"))
    expect(figures).to_contain_text(re.compile(r"Mistaken answers\s*about \d+ %"))


def reopened(page: Page) -> None:
    """Undo and repeat the last answer; the query is finished again."""
    page.get_by_role("button", name="Undo last answer").click()
    ready(page)
    answered(page, BUDGET - 1)
    page.keyboard.press(better(page))
    expect(page.get_by_text("Finished and saved")).to_be_visible()


def test_the_bar_shows_how_good_the_list_is_until_that_is_enough(
    postgresql_site: Site, context: BrowserContext
) -> None:
    assigned = make_assigned(
        postgresql_site, k=2, sorter="robust", budget=60, stop_at=0.8, pair_limit=6
    )
    page = assigned.open_page(context)
    qualities = []
    for count in range(1, 60):
        text = page.locator("#progress").inner_text()
        found = re.fullmatch(rf"{count - 1} answered, quality (\d+) of 80 %\s*", text)
        assert found, text
        qualities.append(int(found[1]))
        seen(page)
        page.keyboard.press(better(page))
        page.wait_for_function(
            """count => !document.querySelector('#progress') ||
            document.querySelector('#progress').getAttribute('aria-valuenow') === count""",
            arg=str(count),
        )
        if page.get_by_text("Finished and saved").is_visible():
            break
        if page.locator("#answers").count():
            saved(page)
    expect(page.get_by_text("Finished and saved")).to_be_visible()
    assert max(qualities) >= qualities[0] + 15
    assert len(qualities) < 40
    assert max(qualities) < 80, "the goal is not shown before it is reached"

"""What was on the screen is what was judged, whatever a person does between two answers."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.browser.assigned_work import Site, make_assigned, press, shows_what_it_asks
from tests.browser.chromium import RestoringBrowser
from tests.browser.random_walk import restored_page, walk

pytestmark = pytest.mark.browser


def test_the_log_names_the_pages_that_were_read(site: Site, context: BrowserContext) -> None:
    """A short walk; `python -m bench.random_walk` gives as many answers as one likes."""
    assert walk(site, context, seed=1, answers=14)["entries"] >= 14


def test_a_restored_browser_shows_the_pages_of_the_question(
    site: Site, browser: Browser, tmp_path: Path
) -> None:
    assigned = make_assigned(site)
    with RestoringBrowser(browser.browser_type, tmp_path) as restoring:
        page = assigned.open_page(restoring.context)
        for number in range(1, 4):
            press(page, "ArrowLeft", number)
        shows_what_it_asks(page)
        page = restored_page(restoring.restart(), assigned)
        shows_what_it_asks(page)
        press(page, "ArrowLeft", 4)
        shows_what_it_asks(page)

"""What was on the screen is what was judged, whatever a person does between two answers."""

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.assigned_work import Site
from tests.browser.random_walk import walk

pytestmark = pytest.mark.browser


def test_the_log_names_the_pages_that_were_read(any_site: Site, context: BrowserContext) -> None:
    """A short walk; `python -m bench.random_walk` gives as many answers as one likes."""
    assert walk(any_site, context, seed=1, answers=20) >= 20

"""The browser of the tests: the system's Chromium, restricted to this machine.

Most tests use its headless shell if there is one: the same engine without windows, tabs and menus,
which take more than half of the CPU time of a test.
"""

import os
import shutil
from pathlib import Path
from typing import Self

import pytest
from playwright.sync_api import BrowserContext, BrowserType

from tests.browser.page_clock import GIVEN_CLOCK
from tests.waiting import WATCHDOG

LONGEST = int(1000 * WATCHDOG)  # milliseconds that anything in the browser may take
MISSING = "no Chromium was found: install it, or name one in TOPKAPI_TEST_CHROMIUM"
# Read here, because each test removes such variables.
_NAMED = os.environ.get("TOPKAPI_TEST_CHROMIUM")
_IS_DEMANDED = os.environ.get("TOPKAPI_TEST_DEMAND_BROWSER") == "1"
_SHELL = "chromium-headless-shell"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_APPLICATION = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
]


class RestoringBrowser:
    """A complete Chromium with a profile of its own, which restores its tabs when it restarts."""

    def __init__(self, chromium: BrowserType, profile: Path) -> None:
        self._chromium = chromium
        self._profile = profile
        self.context = self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def _start(self) -> BrowserContext:
        context = self._chromium.launch_persistent_context(
            self._profile,
            executable_path=required_chromium(complete=True),
            args=[*ARGUMENTS, "--restore-last-session", "--hide-crash-restore-bubble"],
            viewport={"width": 1440, "height": 900},
            timeout=LONGEST,
        )
        context.set_default_timeout(LONGEST)
        context.add_init_script(GIVEN_CLOCK)
        return context

    def restart(self) -> BrowserContext:
        """Close the browser and start it again."""
        self.context.close()
        self.context = self._start()
        return self.context


def chromium_path(*, complete: bool = False) -> str:
    """Return the path of Chromium: TOPKAPI_TEST_CHROMIUM, or the system's.

    The headless shell comes first, unless the browser has to be ``complete``.
    """
    shell = None if complete else shutil.which(_SHELL)
    for path in (_NAMED, shell, *map(shutil.which, _NAMES), _APPLICATION):
        if path and Path(path).exists():
            return path
    raise FileNotFoundError(MISSING)


def required_chromium(*, complete: bool = False) -> str:
    """Return the path of Chromium; without one, skip the test unless the run demands it."""
    try:
        return chromium_path(complete=complete)
    except FileNotFoundError:
        if _IS_DEMANDED:
            raise
        pytest.skip(MISSING)

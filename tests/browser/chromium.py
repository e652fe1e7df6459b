"""The browser of the tests: the system's Chromium, restricted to this machine.

Most tests use its headless shell if there is one: the same engine without windows, tabs and menus,
which take more than half of the CPU time of a test.
"""

import os
import shutil
from pathlib import Path

from playwright.sync_api import BrowserContext, BrowserType

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

    def _start(self) -> BrowserContext:
        return self._chromium.launch_persistent_context(
            self._profile,
            executable_path=chromium_path(complete=True),
            args=[*ARGUMENTS, "--restore-last-session", "--hide-crash-restore-bubble"],
            viewport={"width": 1440, "height": 900},
        )

    def restart(self) -> BrowserContext:
        """Close the browser and start it again."""
        self.context.close()
        self.context = self._start()
        return self.context


def chromium_path(*, complete: bool = False) -> str:
    """Return the path of Chromium: TOPKAPI_TEST_CHROMIUM, or the system's.

    The headless shell comes first, unless the browser has to be ``complete``.
    """
    named = os.environ.get("TOPKAPI_TEST_CHROMIUM")
    shell = None if complete else shutil.which(_SHELL)
    for path in (named, shell, *map(shutil.which, _NAMES), _APPLICATION):
        if path and Path(path).exists():
            return path
    raise FileNotFoundError(
        "no Chromium was found: install it, or name one in TOPKAPI_TEST_CHROMIUM"
    )

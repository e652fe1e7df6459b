"""The browser of the tests: the system's Chromium, restricted to this machine."""

import os
import shutil
from pathlib import Path

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


def chromium_path() -> str:
    """Return the path of Chromium: TOPKAPI_TEST_CHROMIUM, or the system's."""
    named = os.environ.get("TOPKAPI_TEST_CHROMIUM")
    found = [named, *map(shutil.which, _NAMES), _APPLICATION]
    for path in found:
        if path and Path(path).exists():
            return path
    raise FileNotFoundError(
        "no Chromium was found: install it, or name one in TOPKAPI_TEST_CHROMIUM"
    )

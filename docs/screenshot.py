"""Make docs/images/t1.png anew: the demo, served, at a pair of tool T1, in a window 1440 wide.

Usage: python -m docs.screenshot [--out docs/images/t1.png]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from app.demo_accounts import DEMO_PASSWORD
from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.browser.desks import ready
from tests.live import serving

PERSON = "chiara@demo.example"
ANSWERS = ("ArrowLeft", "ArrowRight", "ArrowLeft", "t")


def load_demo(url: str, folder: Path) -> None:
    """The demo study in a database of its own."""
    settings = {
        "TOPKAPI_DATABASE_URL": url,
        "TOPKAPI_SECRET_FILE": str(folder / "topkapi.secret"),
    }
    for words in (["db", "upgrade"], ["demo"]):
        command = [sys.executable, "-c", "from app.cli import main; main()", *words]
        subprocess.run(command, env={**os.environ, **settings}, check=True, capture_output=True)


def sit_down(page: Page, url: str) -> None:
    """Sign in as one of the demo's assessors and go on with pairs of pages."""
    page.goto(url)
    page.get_by_label("E-mail").fill(PERSON)
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name="Continue").click()
    ready(page)


def main() -> None:
    """Load, serve, sit down, look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/images/t1.png"))
    parser.add_argument("--answers", type=int, default=0, help="answers given before the picture")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        url = f"sqlite:///{folder / 'demo.db'}"
        load_demo(url, folder)
        with serving(url, folder) as server:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            sit_down(page, server.url)
            for number in range(options.answers):
                page.keyboard.press(ANSWERS[number % len(ANSWERS)])
                ready(page)
            page.wait_for_timeout(1200)
            page.screenshot(path=options.out)
            browser.close()


if __name__ == "__main__":
    main()

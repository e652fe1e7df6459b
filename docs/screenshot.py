"""Take a screenshot for docs/images: the served demo in a window 1440 pixels wide.

Usage: python -m docs.screenshot [t1|query|report] [--out FILE] [--dark]
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser.assigned_work import ready
from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.live import serving
from topkapi.app.installation.demo_accounts import DEMO_PASSWORD

ASSESSOR, RESEARCHER = "deniz@demo.example", "researcher@demo.example"
ANSWERS = ("ArrowLeft", "ArrowRight", "ArrowLeft", "t")


def load_demo(url: str, folder: Path) -> None:
    """Load the demo study into a separate database."""
    settings = {
        "TOPKAPI_DATABASE_URL": url,
        "TOPKAPI_SECRET_FILE": str(folder / "topkapi.secret"),
    }
    for arguments in (["db", "upgrade"], ["demo"]):
        command = [sys.executable, "-c", "from topkapi.app.cli import main; main()", *arguments]
        subprocess.run(command, env={**os.environ, **settings}, check=True, capture_output=True)


def sign_in(page: Page, url: str, email: str) -> None:
    """Sign in as one of the demo's people."""
    page.goto(url)
    page.get_by_label("E-mail").fill(email)
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def show_pair(page: Page, url: str, answers: int) -> None:
    """Show tool T1 at the assessor's current pair, after some answers."""
    sign_in(page, url, ASSESSOR)
    page.get_by_role("link", name="Continue").click()
    ready(page)
    for number in range(answers):
        page.keyboard.press(ANSWERS[number % len(ANSWERS)])
        ready(page)
    page.wait_for_timeout(1200)


def show_result(page: Page, url: str, what: str) -> None:
    """Show the head of the report, or of the results of the first query."""
    page.set_viewport_size({"width": 1440, "height": 1200})
    sign_in(page, url, RESEARCHER)
    page.goto(f"{url}/studies/everyday-questions/{'queries/1' if what == 'query' else what}")
    page.wait_for_load_state("networkidle")


def main() -> None:
    """Load, serve, sign in, take the screenshot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["t1", "query", "report"], default="t1")
    parser.add_argument("--out", type=Path, help="docs/images/WHAT.png if left out")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--answers", type=int, default=0, help="answers given before the picture")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        url = f"sqlite:///{folder / 'demo.db'}"
        load_demo(url, folder)
        with serving(url, folder) as server:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
            page = browser.new_page(
                viewport={"width": 1440, "height": 900},
                color_scheme="dark" if options.dark else "light",
            )
            if options.what == "t1":
                show_pair(page, server.url, options.answers)
            else:
                show_result(page, server.url, options.what)
            page.screenshot(path=options.out or Path(f"docs/images/{options.what}.png"))
            browser.close()


if __name__ == "__main__":
    main()

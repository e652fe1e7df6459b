"""Compare the screen with the log over long random walks through the browser, on both databases.

Usage: python -m bench.random_walk [--answers 300] [--seeds 1 2 3]
"""

import argparse
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.assigned_work import Site
from tests.browser.chromium import RestoringBrowser
from tests.browser.random_walk import walk
from tests.databases import postgresql_server
from tests.live import serving
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, postgresql_server() as server:
        sqlite = f"sqlite:///{Path(folder) / 'bench.db'}"
        for url in (sqlite, server.render_as_string(hide_password=False)):
            walk_on(url, Path(folder), options.seeds, options.answers)


def walk_on(url: str, folder: Path, seeds: list[int], answers: int) -> None:
    """Walk once per seed; a difference between screen and log ends the program."""
    migrations.upgrade(url)
    engine = make_engine(url)
    with serving(url, folder) as server, sync_playwright() as playwright:
        site = Site(server, make_sessions(engine))
        for seed in seeds:
            begun = time.monotonic()
            profile = folder / f"{engine.dialect.name} {seed}"
            with RestoringBrowser(playwright.chromium, profile) as browser:
                found = walk(
                    site, browser.context, seed=seed, answers=answers, restart=browser.restart
                )
            took = time.monotonic() - begun
            figures = ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
            print(
                f"{engine.dialect.name}, seed {seed}: all equal, {figures}, {took:.0f} s",
                flush=True,
            )
    engine.dispose()


if __name__ == "__main__":
    main()

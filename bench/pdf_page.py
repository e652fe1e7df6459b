"""Processor time of the judging page for showing a long PDF beside a text, in Chromium.

Usage: python -m bench.pdf_page [--pages 30] [--showings 5]
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from random import Random

from playwright.sync_api import CDPSession, Page, sync_playwright
from sqlalchemy import select

from bench.judging_page import WORDS
from tests.browser.assigned_work import Site, ready
from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.factories import make_assignment, make_user
from tests.live import serving
from tests.media import pdf_of
from tests.studies import write_jsonl
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Query
from topkapi.app.services.importing import import_study, open_source

TARGET_S = 0.7  # of the page's thread, per showing of 30 pages
# Frames that are there, laid out whole, and an idle moment after that.
QUIET = """() => new Promise((done) => {
  const idle = (left) => requestIdleCallback(() => (left ? idle(left - 1) : done()));
  setTimeout(() => idle(5), 2500);
})"""


def long_pdf(pages: int, random: Random, lines: int = 42, words: int = 11) -> bytes:
    """Make a PDF whose pages are full of text."""

    def page() -> str:
        rows = (" ".join(random.choices(WORDS, k=words)) for _ in range(lines))
        return ") Tj 0 -14 Td (".join(rows)

    return pdf_of(*(page() for _ in range(pages)), size=11)


def write_study(folder: Path, pages: int, random: Random) -> None:
    """Write a study of a long PDF and a short text."""
    (folder / "pages").mkdir(parents=True)
    (folder / "study.toml").write_text('name = "Long"\nslug = "long"\nk = 2\n')
    (folder / "pages" / "long.pdf").write_bytes(long_pdf(pages, random))
    records = [{"id": "long", "path": "pages/long.pdf"}, {"id": "short", "text": "Cut and wrap."}]
    write_jsonl(folder / "documents.jsonl", records)
    write_jsonl(folder / "queries.jsonl", [{"id": "q", "text": "keep tulips"}])
    write_jsonl(
        folder / "candidates.jsonl", [{"query": "q", "document": each["id"]} for each in records]
    )


def thread_times(cdp: CDPSession) -> dict[str, float]:
    """Return the seconds that the page's thread has spent, in all and by kind of work."""
    found = cdp.send("Performance.getMetrics")["metrics"]
    return {each["name"]: each["value"] for each in found if each["name"].endswith("Duration")}


def show(page: Page, cdp: CDPSession, address: str) -> dict[str, float]:
    """Open the judging page; return the seconds of its thread until nothing is left to do."""
    page.goto("about:blank")
    before = thread_times(cdp)
    page.goto(address)
    ready(page)
    page.evaluate(QUIET)
    return {name: value - before[name] for name, value in thread_times(cdp).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument("--showings", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        migrations.upgrade(url)
        engine = make_engine(url)
        write_study(Path(folder) / "study", options.pages, Random(1))
        with serving(url, Path(folder)) as server:
            site = Site(server, make_sessions(engine))
            with site.sessions.write.begin() as session:
                with open_source(Path(folder) / "study") as source:
                    import_study(session, source)
                session.flush()
                user, query = make_user(session), session.scalars(select(Query)).one()
                work = make_assignment(session, user=user, query=query, k=2)
                address, cookie = f"{server.url}/assignments/{work.id}", site.cookie(user)
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.add_cookies([cookie])
            page = context.new_page()
            cdp = context.new_cdp_session(page)
            cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
            took = [show(page, cdp, address) for _ in range(options.showings)]
            browser.close()
        engine.dispose()
    for name in ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration"):
        each = sorted(one[name] for one in took)
        print(f"{name}: median {statistics.median(each):.2f} s, most {each[-1]:.2f} s")
    median = statistics.median(one["TaskDuration"] for one in took)
    print("within" if median <= TARGET_S else "OVER", f"the target of {TARGET_S} s of thread time")


if __name__ == "__main__":
    main()

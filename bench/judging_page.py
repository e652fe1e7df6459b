"""Time from a key press to the next pair, fully shown, in Chromium, with pages of 50 or 500 kB.

Usage: python -m bench.judging_page [--answers 100] [--reading-ms 800] [--kilobytes 50]
           [--database URL]
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from random import Random

from playwright.sync_api import Page, sync_playwright

from tests.browser.assigned_work import Body, Site, make_assigned
from tests.browser.chromium import ARGUMENTS, chromium_path
from tests.live import serving
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions

TARGETS_MS = {50: 50, 500: 150}  # p95 by size of the pages in kB
WORDS = ("tulip", "vase", "water", "stem", "cut", "wrap", "paper", "cool", "clean", "knife", "leaf")
# Records when a key goes down, and when both pages of the next pair have been painted.
WATCH = """() => {
  window.took = [];
  const shown = () => [...document.querySelectorAll('.frames iframe:not(.frame--next)')];
  const position = () => document.querySelector('#entry [name=position]').value;
  document.addEventListener('keydown', (event) => {
    const before = position();
    const look = () => {
      const there = position() !== before && shown().length === 2
        && shown().every(({ dataset, contentDocument }) =>
          dataset.ready === '1' && contentDocument.body.firstElementChild);
      if (!there) return requestAnimationFrame(look);
      return requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => took.push(performance.now() - event.timeStamp);
        port2.postMessage(null);
      });
    };
    requestAnimationFrame(look);
  }, true);
}"""


def page_of(number: int, kilobytes: int, random: Random) -> Body:
    """Make a page with headings, lists and text, of about ``kilobytes``."""
    parts = [f"<!doctype html><title>Page {number}</title><style>body{{font:16px serif}}</style>"]
    size = 0
    while size < kilobytes * 1000:
        text = " ".join(random.choice(WORDS) for _ in range(60))
        parts.append(f"<h2>{text[:30]}</h2><p>{text}</p><ul><li>{text[:40]}<li>{text[40:80]}</ul>")
        size += len(parts[-1])
    return Body("".join(parts), "text/html")


def answer(page: Page, count: int, reading_ms: int, random: Random) -> list[float]:
    """Give ``count`` answers at a reader's pace; return the milliseconds of each."""
    for number in range(count):
        page.wait_for_timeout(reading_ms)
        page.keyboard.press(random.choice(["ArrowLeft", "ArrowRight", "ArrowRight", "t"]))
        page.wait_for_function("count => window.took.length === count", arg=number + 1)
    return [float(ms) for ms in page.evaluate("window.took")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--reading-ms", type=int, default=800)
    parser.add_argument("--kilobytes", type=int, default=50)
    parser.add_argument("--database", help="address of an empty database; SQLite if left out")
    options = parser.parse_args()
    random = Random(1)
    pages = [page_of(number, options.kilobytes, random) for number in range(50)]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        url = options.database or f"sqlite:///{Path(folder) / 'bench.db'}"
        migrations.upgrade(url)
        engine = make_engine(url)
        with serving(url, Path(folder)) as server:
            assigned = make_assigned(Site(server, make_sessions(engine)), pages=pages, k=20)
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
            page = assigned.open_page(browser.new_context(viewport={"width": 1440, "height": 900}))
            page.evaluate(WATCH)
            took = answer(page, options.answers, options.reading_ms, random)
            browser.close()
        engine.dispose()
    p95 = statistics.quantiles(took, n=20)[-1]
    print(f"{len(took)} answers, pages of {options.kilobytes} kB, {options.reading_ms} ms apart")
    print(f"median {statistics.median(took):.0f} ms, p95 {p95:.0f} ms, most {max(took):.0f} ms")
    target = next((ms for size, ms in TARGETS_MS.items() if options.kilobytes <= size), 150)
    print("within" if p95 < target else "OVER", f"the target of {target} ms for p95")


if __name__ == "__main__":
    main()

"""Memory of a worker over many judgments: RSS after the first thousand, and afterwards.

    .venv/bin/python -m bench.memory
    .venv/bin/python -m bench.memory --judgments 10000

One real server with one worker; eight assessors at once judge one assignment after the other to its
end, every fourth like the browser, with its pages, the others through the API. The bound is the
memory after the first thousand judgments in the same run.
"""

import argparse
import tempfile
from pathlib import Path

from bench.browser_path import Job, make_jobs, run
from bench.judging import databases
from tests.live import LiveServer, serving
from topkapi.app.db.engine import make_engine, make_sessions

AT_ONCE, PER_QUERY, KILOBYTES = 8, 10, 2.0


def resident_megabytes(server: LiveServer) -> float:
    """Return the resident memory of the server's process."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def judged(server: LiveServer, jobs: list[Job]) -> int:
    """Judge all jobs to their ends, some in the browser; return the number of judgments."""
    browser = jobs[: len(jobs) // 4]
    found = run(server, browser, "browser", 1000), run(server, jobs[len(browser) :], "api", 1000)
    return sum(len(each.whole) for each in found)


def measure(name: str, url: str, folder: Path, judgments: int) -> None:
    sessions = make_sessions(make_engine(url))
    count, first, shown = 0, 0.0, 1000
    with serving(url, folder, workers="1") as server:
        print(f"{name}: {resident_megabytes(server):.0f} MB at the start", flush=True)
        while count < judgments:
            count += judged(server, make_jobs(sessions, AT_ONCE, KILOBYTES, PER_QUERY))
            if count >= min(shown, judgments):
                now = resident_megabytes(server)
                first = first or now
                print(f"  {count:>7} judgments {now:.0f} MB, {now / first:.2f} times", flush=True)
                shown = max(2 * shown, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgments", type=int, default=100_000)
    parser.add_argument("--database", choices=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        for name, url in urls.items():
            if chosen.database in (None, name):
                measure(name, url, Path(folder), chosen.judgments)


if __name__ == "__main__":
    main()

"""Time of an answer while `topkapi backup` reads a large database, on both databases.

    .venv/bin/python -m bench.backup
    .venv/bin/python -m bench.backup --megabytes 100 --only sqlite

One real server (one worker), 8 assessors over the API, and the backup in a separate process share
this machine; PostgreSQL waits for the disk, as in production. Prints the median, the 99th
percentile and the longest answer before, during and after the backup. The target is a 99th
percentile under 500 ms throughout.
"""

import argparse
import os
import random
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from sqlalchemy import Engine, insert, make_url, text

from bench.judging import ASSESSORS, databases, percentile
from tests.factories import make_study, queries_of
from tests.judging import Job, answer_to, make_job
from tests.live import serving
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Content
from topkapi.app.db.models.document import content_hash
from topkapi.app.services.importing.records.contents import content_row

PAGE = 50_000
TARGET = 0.5
ORDINARY_SECONDS = 10.0


@dataclass
class Answers:
    """When each answer was sent, and how long it took."""

    taken: list[tuple[float, float]] = field(default_factory=list)

    def between(self, start: float, end: float) -> list[float]:
        """Return the seconds of the answers that were in progress between two moments."""
        return [took for at, took in self.taken if at + took > start and at < end]


def fill(engine: Engine, megabytes: int) -> None:
    """Add pages, each with its plain text, until they take ``megabytes``."""
    draws = random.Random(1)
    words = ["".join(draws.choices(string.ascii_lowercase, k=6)) for _ in range(200_000)]
    stock = " ".join(words).encode()
    for _ in range(megabytes // 10):
        starts = (draws.randrange(len(stock) - PAGE) for _ in range(100))
        pages = [os.urandom(8).hex().encode() + stock[at : at + PAGE] for at in starts]
        rows = [content_row("text/plain", page, content_hash("text/plain", page)) for page in pages]
        with engine.begin() as connection:
            connection.execute(insert(Content), rows)


def make_jobs(sessions: Sessions) -> list[Job]:
    """Create one query of 1,000 pages per assessor, so that questions never run out."""
    with sessions.write.begin() as session:
        query = queries_of(session, make_study(session, documents=1000))[0]
        return [
            make_job(session, query=query, k=300, seed=f"seed {number}")
            for number in range(ASSESSORS)
        ]


def judge(url: str, job: Job, answers: Answers, stop: threading.Event) -> None:
    """Answer one question after the other until ``stop`` is set."""
    with httpx.Client(base_url=url, headers=job.headers, timeout=120) as client:
        state = client.get(job.url).json()
        while not stop.is_set() and state["state"] == "asking":
            body, start = answer_to(state), time.perf_counter()
            reply = client.post(f"{job.url}/judgments", json=body)
            answers.taken.append((start, time.perf_counter() - start))
            reply.raise_for_status()
            state = reply.json()


@contextmanager
def judging(url: str, work: list[Job]) -> Iterator[Answers]:
    """Let all assessors judge while the context is open."""
    answers, stop = Answers(), threading.Event()
    threads = [threading.Thread(target=judge, args=(url, job, answers, stop)) for job in work]
    for thread in threads:
        thread.start()
    try:
        yield answers
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def run_backup(url: str, path: Path) -> tuple[float, float]:
    """Run `topkapi backup` to its end; return when it started and ended."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", "from topkapi.app.cli import main; main()", "backup", str(path)],
        env={**os.environ, "TOPKAPI_DATABASE_URL": url},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return start, time.perf_counter()


def measure(name: str, url: str, folder: Path, megabytes: int) -> bool:
    """Print the three phases of one database; return whether the target holds in all of them."""
    engine = make_engine(url)
    fill(engine, megabytes)
    work = make_jobs(make_sessions(engine))
    size = size_of(engine)
    engine.dispose()
    path = folder / f"{name}.zip"
    with serving(url, folder, workers="1") as server, judging(server.url, work) as answers:
        time.sleep(3)  # until everybody is at work
        begin = time.perf_counter()
        time.sleep(ORDINARY_SECONDS)
        start, end = run_backup(url, path)
        grown = wal_size(url)
        time.sleep(ORDINARY_SECONDS)
        last = time.perf_counter()
    took = f"backup {end - start:.0f} s, {path.stat().st_size / 1e6:.0f} MB"
    print(f"{name}: database {size / 1e6:.0f} MB, {took}, WAL at its end {grown / 1e6:.0f} MB")
    phases = {"before": (begin, start), "during": (start, end), "after": (end, last)}
    held = [tell(phase, answers, *span) for phase, span in phases.items()]
    return all(held)


def tell(phase: str, answers: Answers, start: float, end: float) -> bool:
    """Print one phase; return whether its 99th percentile is under the target."""
    times = answers.between(start, end)
    p50, p99, most = percentile(times, 0.5), percentile(times, 0.99), max(times)
    print(
        f"  {phase:<7} {len(times) / (end - start):4.0f} answers/s, p50 {1e3 * p50:.1f} ms, "
        f"p99 {1e3 * p99:.1f} ms, longest {1e3 * most:.0f} ms"
    )
    return p99 < TARGET


def size_of(engine: Engine) -> int:
    """Return the size of the database in bytes."""
    if engine.dialect.name == "sqlite":
        return Path(engine.url.database or "").stat().st_size
    with engine.connect() as connection:
        return int(connection.scalar(text("SELECT pg_database_size(current_database())")))


def wal_size(url: str) -> int:
    """Return the size of SQLite's write-ahead log, which cannot be reset during a snapshot."""
    database = make_url(url).database or ""
    wal = Path(f"{database}-wal")
    return wal.stat().st_size if wal.exists() else 0


def wait_for_the_disk(url: str) -> None:
    """Undo the test settings that make PostgreSQL fast: a commit waits for the disk."""
    server = make_url(url).set(database="postgres").render_as_string(hide_password=False)
    engine = make_engine(server)
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.exec_driver_sql(f"ALTER SYSTEM RESET {setting}")
        connection.exec_driver_sql("SELECT pg_reload_conf()")
    engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000, help="size of the database")
    parser.add_argument("--only", choices=["sqlite", "postgresql"], help="one database")
    chosen = parser.parse_args()
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        wait_for_the_disk(urls["postgresql"])
        wanted = {name: url for name, url in urls.items() if chosen.only in (None, name)}
        held = [measure(name, url, Path(folder), chosen.megabytes) for name, url in wanted.items()]
    sys.exit(0 if all(held) else 1)


if __name__ == "__main__":
    main()

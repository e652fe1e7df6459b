"""Time of an answer: N assessors over HTTP, on SQLite and on PostgreSQL.

    .venv/bin/python -m bench.judging
    .venv/bin/python -m bench.judging --sorter robust

One real server (one worker) and the assessors share this machine. The bound is measured in the same
run: the same server's `/readyz`, which opens a transaction and does no work. Prints the median and
the 99th percentile of one answer, answers per second of several assessors at once, and how much
slower an answer is at entry 5,000 of a log than at entry 50. With `--sorter` the queries have 50
pages of which the best 10 are wanted, questions are asked by that sorter, and there is no long log.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.databases import PostgresqlTemplate, migrated_sqlite, postgresql_server
from tests.judging import Job, answer_to, make_job
from tests.live import LiveServer, serving
from topkapi.app.db.engine import Sessions, make_engine, make_sessions

ASSESSORS = 8


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """Yield a fresh database of each kind."""
    with tempfile.TemporaryDirectory() as folder, postgresql_server() as server:
        template = PostgresqlTemplate(server)
        sqlite = migrated_sqlite(Path(folder))
        with template.copy() as postgresql:
            yield {"sqlite": f"sqlite:///{sqlite}", "postgresql": postgresql}
        template.drop()


def answer_times(server: LiveServer, job: Job, count: int) -> list[float]:
    """Return the seconds of each of ``count`` answers, until the next question is read."""
    times: list[float] = []
    with httpx.Client(base_url=server.url, headers=job.headers, timeout=30) as client:
        state = client.get(job.url).json()
        while len(times) < count and state["state"] == "asking":
            body = answer_to(state)
            start = time.perf_counter()
            reply = client.post(f"{job.url}/judgments", json=body)
            times.append(time.perf_counter() - start)
            reply.raise_for_status()
            state = reply.json()
    return times


def bound_times(server: LiveServer, count: int) -> list[float]:
    """Return the seconds of a request that only opens a transaction."""
    times = []
    with httpx.Client(base_url=server.url, timeout=30) as client:
        for _ in range(count):
            start = time.perf_counter()
            client.get("/readyz").raise_for_status()
            times.append(time.perf_counter() - start)
    return times


def long_log(server: LiveServer, job: Job, entries: int) -> tuple[float, float]:
    """Return median answer times around entry 50 and around the last of ``entries``, in seconds."""
    times = answer_times(server, job, entries)
    return statistics.median(times[30:70]), statistics.median(times[-40:])


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def jobs(sessions: Sessions, count: int, documents: int, k: int, sorter: str = "heap") -> list[Job]:
    with sessions.write.begin() as session:
        return [make_job(session, documents=documents, k=k, sorter=sorter) for _ in range(count)]


def measure(name: str, url: str, folder: Path, entries: int) -> None:
    engine = make_engine(url)
    sessions = make_sessions(engine)
    one, many = jobs(sessions, 2, 60, 20), jobs(sessions, ASSESSORS, 60, 20)
    (long,) = jobs(sessions, 1, 1000, 300)
    engine.dispose()
    with serving(url, folder, workers="1") as server:
        answer_times(server, one[0], 50)
        bound = statistics.median(bound_times(server, 200))
        alone = answer_times(server, one[1], 200)
        start = time.perf_counter()
        with ThreadPoolExecutor(ASSESSORS) as pool:
            crowd = [
                each
                for times in pool.map(lambda job: answer_times(server, job, 200), many)
                for each in times
            ]
        rate = len(crowd) / (time.perf_counter() - start)
        early, late = long_log(server, long, entries)
    median = statistics.median(alone)
    print(f"{name}")
    print(f"  one assessor   {spread(alone)}, {median / bound:.1f} times /readyz")
    print(f"  {ASSESSORS} at once      {rate:.0f} answers/s, {spread(crowd)}")
    print(
        f"  long log       entry 50 {1e3 * early:.1f} ms, entry {entries} {1e3 * late:.1f} ms, "
        f"rise {1e3 * (late - early):+.1f} ms"
    )


def measure_sorter(name: str, url: str, folder: Path, sorter: str) -> None:
    """Measure whole sessions of another sorter and their ends, at 50 pages and the best 10."""
    engine = make_engine(url)
    sessions = make_sessions(engine)
    one, many = jobs(sessions, 4, 50, 10, sorter), jobs(sessions, ASSESSORS, 50, 10, sorter)
    engine.dispose()
    with serving(url, folder, workers="1") as server:
        answer_times(server, one[0], 50)
        sessions_alone = [answer_times(server, job, 1000) for job in one[1:]]
        start = time.perf_counter()
        with ThreadPoolExecutor(ASSESSORS) as pool:
            crowd = list(pool.map(lambda job: answer_times(server, job, 60), many))
        rate = sum(map(len, crowd)) / (time.perf_counter() - start)
    alone = [each for times in sessions_alone for each in times[:-1]]
    ends = [times[-1] for times in sessions_alone]
    print(f"{name}, {sorter}, 50 pages, best 10")
    print(f"  one assessor   {spread(alone)}, {len(alone)} answers")
    print(f"  the last one   {1e3 * statistics.median(ends):.1f} ms, with the list")
    print(
        f"  {ASSESSORS} at once      {rate:.0f} answers/s, {spread([x for y in crowd for x in y])}"
    )


def spread(times: list[float]) -> str:
    p50, p99 = statistics.median(times), percentile(times, 0.99)
    return f"p50 {1e3 * p50:.1f} ms, p99 {1e3 * p99:.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=5000, help="length of the long log")
    parser.add_argument("--sorter", help="measure this sorter at 50 pages, best 10")
    chosen = parser.parse_args()
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        for name, url in urls.items():
            if chosen.sorter:
                measure_sorter(name, url, Path(folder), chosen.sorter)
            else:
                measure(name, url, Path(folder), chosen.entries)


if __name__ == "__main__":
    main()

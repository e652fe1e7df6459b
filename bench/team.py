"""Answer times of a team on one query, beside the same people on queries of their own.

Usage: python -m bench.team [--people 8] [--think 2] [--budget 143] [--database sqlite]

Everybody judges 50 pages with `robust` through the API and thinks as long before each answer. The
answers that end a query, the last one and those on their way meanwhile, compute its list; they are
in the percentiles of all.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from bench.browser_client import ApiClient, Entry
from bench.faults.__main__ import database
from tests.factories import make_study, make_user, queries_of
from tests.judging import Job, make_job, prefer_greater
from tests.live import serving
from topkapi.app.db.engine import make_engine, make_sessions

PAGES = 50


def jobs_of(url: str, people: int, budget: int, *, together: bool) -> list[Job]:
    """Create an assignment for each person: one query for all, or one each."""
    engine = make_engine(url)
    with make_sessions(engine).write.begin() as session:
        count = 1 if together else people
        study = make_study(session, slug=f"team-{together}", queries=count, documents=PAGES)
        queries = list(queries_of(session, study)) * (people if together else 1)
        shared = {"together": True, "seed": "team", "budget": budget}
        made = []
        for query in queries:
            alone = {"seed": query.external_id, "budget": budget // people}
            plan: dict[str, Any] = shared if together else alone
            user = make_user(session)
            made.append(make_job(session, query=query, user=user, sorter="robust", k=10, **plan))
    engine.dispose()
    return made


async def judge(
    url: str, job: Job, think: float, number: int, found: list[tuple[float, bool]]
) -> None:
    """Judge one assignment to its end."""
    random, client = Random(number), ApiClient(url, job.assignment_id, job.token)
    question = await client.open()
    while not question.finished:
        await asyncio.sleep(random.uniform(0.5, 1.5) * think)
        shown = question.shown
        if not shown:  # others have every question that is worth asking
            question = await client.open()
            continue
        answer = prefer_greater(shown["left"], shown["right"])
        began = time.perf_counter()
        _, question = await client.send(Entry(question.position, "answer", shown, answer))
        found.append((time.perf_counter() - began, question.finished))
    client.connection.close()


async def judge_all(url: str, jobs: list[Job], think: float) -> np.ndarray[Any, Any]:
    """Return the milliseconds of every answer, and whether it ended the query: (answers, 2)."""
    found: list[tuple[float, bool]] = []
    await asyncio.gather(*(judge(url, job, think, n, found) for n, job in enumerate(jobs)))
    return np.array(found) * (1000.0, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=8)
    parser.add_argument("--think", type=float, default=2.0, help="mean seconds before an answer")
    parser.add_argument("--budget", type=int, default=143, help="questions of all together")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    chosen = parser.parse_args()
    for name in chosen.database or ["sqlite", "postgresql"]:
        with (
            tempfile.TemporaryDirectory() as folder,
            database(name, Path(folder)) as (url, _),
            serving(url, Path(folder)) as server,
        ):
            for together in (False, True):
                jobs = jobs_of(url, chosen.people, chosen.budget, together=together)
                found = asyncio.run(judge_all(server.url, jobs, chosen.think))
                during = found[found[:, 1] == 0, 0]
                median, high = np.percentile(found[:, 0], [50, 95])
                what = "one query together" if together else "own queries"
                print(
                    f"{name}, {chosen.people} people, {what}: {len(found)} answers, median "
                    f"{median:.0f} ms, p95 {high:.0f} ms; before the end {len(during)}, "
                    f"p95 {np.percentile(during, 95):.0f} ms",
                    flush=True,
                )


if __name__ == "__main__":
    main()

"""Server time of the dashboard and the queue, for large studies.

    python -m bench.dashboard [--database URL]

First a study of 50 queries with 1,000 candidates each, judged by 20 people; then one of 2,000
queries for 200 assessors, two rounds with two tools; then the same with everybody on every query.
Each is a whole request, answered in this process; ``first_ms`` is the first of its kind, before
sums of a large study are cached for some seconds; ``cpu_ms`` is its cost on a machine that is busy
with other things. ``start`` is the administrator's start page over all studies. The limit is 150 ms
for the first study, the queue and the start page (400 ms for its first request), 300 ms for the
last study; the exit code is 1 if it is exceeded.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import httpx
from sqlalchemy import insert, text
from sqlalchemy.orm import Session

from tests.clients import open_client
from tests.factories import sign_in
from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.db.base import now
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Assignment, Candidate, Content, Document, Query, Study, User
from topkapi.app.domain.assignment.rotation import rotation
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import StudySettings, stored_plan
from topkapi.app.main import create_app

LIMIT_MS, COLD_LIMIT_MS, FULL_LIMIT_MS = 150, 400, 300
BOTH = (Tool.PAIRS, Tool.GRADES)


def make_study(
    session: Session, slug: str, queries: int, documents: int
) -> tuple[Study, dict[int, list[int]]]:
    settings = StudySettings(tools=BOTH, check_share=0.1)
    study = Study(slug=slug, name=slug, settings=settings.as_json())
    session.add(study)
    session.flush()
    content = Content(
        hash=slug.ljust(64, "0")[:64], media_type="text/plain", data=b"x", size=1, text="x"
    )
    session.add(content)
    session.flush()
    offered: dict[int, list[int]] = {}
    for number in range(queries):
        query = Query(
            study_id=study.id, external_id=f"q{number:04}", text=f"query {number}", position=number
        )
        session.add(query)
        session.flush()
        names = [f"{number}-{index}" for index in range(documents)]
        rows = [
            {"study_id": study.id, "external_id": name, "title": name, "content_hash": content.hash}
            for name in names
        ]
        ids = list(session.scalars(insert(Document).returning(Document.id), rows))
        session.execute(
            insert(Candidate),
            [
                {"query_id": query.id, "document_id": one, "position": index}
                for index, one in enumerate(ids)
            ],
        )
        offered[query.id] = ids
    return study, offered


def make_people(session: Session, count: int) -> list[int]:
    rows = [
        {"email": f"p{number}@bench.example", "name": f"Person {number:03}", "role": Role.ASSESSOR}
        for number in range(count)
    ]
    return list(session.scalars(insert(User).returning(User.id), rows))


def summed(draw: Random, state: float) -> dict[str, Any]:
    """Return summary columns of an assignment: a third finished, a third begun, a third waiting."""
    if state > 0.66:
        return {
            "answered": 0,
            "expected_left": None,
            "active_ms": 0,
            "last_entry_at": None,
            "finished_at": None,
            "checks": 0,
            "checks_agreed": 0,
        }
    at = now() - timedelta(minutes=draw.randrange(10_000))
    answered = draw.randrange(20, 200)
    return {
        "answered": answered,
        "expected_left": 0 if state < 0.33 else draw.randrange(100),
        "active_ms": answered * draw.randrange(4000, 30_000),
        "last_entry_at": at,
        "finished_at": at if state < 0.33 else None,
        "checks": 10,
        "checks_agreed": 9,
    }


def give(
    session: Session,
    study: Study,
    offered: dict[int, list[int]],
    work: list[tuple[int, int, Tool, int]],
) -> None:
    draw = Random(1)
    settings = StudySettings.from_json(study.settings)
    plans = {
        (query, tool): stored_plan(settings, tool, offered[query], "seed")
        for query in offered
        for tool in BOTH
    }
    for start in range(0, len(work), 2000):
        rows = [
            {
                "user_id": user,
                "query_id": query,
                "tool": tool,
                "round": number,
                "plan": plans[query, tool],
                "created_at": now(),
                **summed(draw, draw.random()),
            }
            for user, query, tool, number in work[start : start + 2000]
        ]
        session.execute(insert(Assignment), rows)


def timed(act: Callable[[], Any], runs: int = 7) -> dict[str, float]:
    begin, begin_cpu = time.perf_counter(), time.process_time()
    act()
    first, first_cpu = time.perf_counter() - begin, time.process_time() - begin_cpu
    times, works = [], []
    for _ in range(runs):
        begin, begin_cpu = time.perf_counter(), time.process_time()
        act()
        times.append(1000 * (time.perf_counter() - begin))
        works.append(1000 * (time.process_time() - begin_cpu))
    return {
        "first_ms": round(1000 * first, 1),
        "first_cpu_ms": round(1000 * first_cpu, 1),
        "median_ms": round(statistics.median(times), 1),
        "least_ms": round(min(times), 1),
        "cpu_ms": round(statistics.median(works), 1),
    }


def _visit(client: httpx.Client, address: str) -> None:
    client.get(address).raise_for_status()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--database")
    parser.add_argument("--full", action="store_true", help="everybody on every query as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = given.database or f"sqlite:///{folder / 'bench.db'}"
        migrations.upgrade(url)
        engine = make_engine(url)
        with make_sessions(engine).write.begin() as session:
            admin = User(email="admin@bench.example", name="Admin", role=Role.ADMIN)
            session.add(admin)
            people = make_people(session, 200)
            large, offered = make_study(session, "deep", 50, 1000)
            twenty = people[:20]
            shares = rotation(list(offered), twenty, BOTH, rounds=4, seed="s")
            give(session, large, offered, [(s.assessor, s.query, s.tool, s.round) for s in shares])
            wide, offered = make_study(session, "wide", 2000, 20)
            shares = rotation(list(offered), people, BOTH, rounds=2, seed="s")
            give(session, wide, offered, [(s.assessor, s.query, s.tool, s.round) for s in shares])
            if given.full:
                full, offered = make_study(session, "full", 2000, 5)
                everyone = [
                    (user, query, Tool.PAIRS, index)
                    for query in offered
                    for index, user in enumerate(people)
                ]
                give(session, full, offered, everyone)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("ANALYZE"))
        settings = Settings(
            database_url=url,
            secret_file=folder / "secret",
            upload_dir=folder / "up",
            _env_file=None,
        )
        app = create_app(settings)
        results: dict[str, Any] = {"database": engine.dialect.name}
        with open_client(app) as client:
            with make_sessions(engine).read() as session:
                assessor = session.get_one(User, people[0])
            sign_in(app, client, assessor)
            results["queue"] = timed(partial(_visit, client, "/queue"))
            sign_in(app, client, admin)
            results["start"] = timed(partial(_visit, client, "/"))
            for slug in ("deep", "wide", *(["full"] if given.full else [])):
                base = f"/studies/{slug}/progress"
                for label, address in (
                    ("dashboard", base),
                    ("sorted", f"{base}?sort=-pace&qsort=-expected_left&page=2&qpage=3"),
                    ("filtered", f"{base}?person=Person+01&query=7"),
                    ("poll", f"{base}?seen=x"),
                ):
                    results[f"{slug} {label}"] = timed(partial(_visit, client, address))
        engine.dispose()
    print(json.dumps(results, indent=1))
    worst = max(
        results[key]["median_ms"] for key in ("queue", "start", "deep dashboard", "deep poll")
    )
    cold = results["start"]["first_ms"]
    widest = max(
        (each["median_ms"] for name, each in results.items() if "full " in name), default=0
    )
    fits = worst < LIMIT_MS and widest < FULL_LIMIT_MS and (given.full or cold < COLD_LIMIT_MS)
    return 0 if fits else 1


if __name__ == "__main__":
    sys.exit(main())

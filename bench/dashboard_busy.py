"""The pages of an administrator while results are computed and answers arrive.

    python -m bench.dashboard_busy [--database sqlite|postgresql]

The study has 80 queries and 10 people, of whose 320 assignments 300 are finished. While a server
with its worker computes the report with agreement and adjudication again and again, two programs
ask the API for both, and assessors answer, an administrator opens every page. A page that is
refused (503) or fails is an error. The processor time of each page is measured in this process,
alone: the second and later visits. The limit is 0.3 s; the exit code is 1 if it is exceeded or a
page is refused.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import httpx
from sqlalchemy import select

from bench.dashboard import _cookie
from bench.judged_study import SLUG, make_judged_study
from bench.judging import databases
from tests.clients import open_client
from tests.factories import sign_in
from tests.judging import Job, answer_to
from tests.live import serving
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Assignment, Study, User
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.main import create_app
from topkapi.app.services.accounts.tokens import issue_token
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.refreshing import active_job
from topkapi.app.services.results.stored import stored_result
from topkapi.app.web.common.cookies import SESSION_COOKIE

LIMIT_SECONDS = 0.3
PASSES, REPORTS = 3, 2  # over all pages, and reports that are computed meanwhile; at least
STUDY = (
    *("", "/progress", "/messages", "/assign", "/work", "/queries", "/documents", "/settings"),
    *("/guidelines", "/training", "/crowd", "/exports", "/machines", "/models", "/plan"),
    *("/systems", "/lists", "/adjudication", "/report", "/queries/1", "/delete"),
)
PAGES = (
    *("/", "/studies", "/people", "/audit", "/imports", "/me", "/results", "/help/"),
    f"/dashboard/{SLUG}/agreement",
    *(f"/studies/{SLUG}{page}" for page in STUDY),
)


@dataclass(frozen=True, slots=True)
class World:
    """The administrator with a token, and unfinished pairs with the tokens of their assessors."""

    admin: User
    token: str
    jobs: list[Job]


def fill(sessions: Sessions) -> World:
    """Create the study and its people."""
    size = {"assessors": 10, "queries": 80, "documents": 32, "rounds": 2}
    make_judged_study(sessions.write.kw["bind"], **size, finished=300)
    with sessions.write.begin() as session:
        admin = User(email="admin@bench.example", name="Admin", role=Role.ADMIN)
        session.add(admin)
        session.flush()
        wanted = Assignment.finished_at.is_(None), Assignment.tool == Tool.PAIRS
        jobs = [
            Job(row.id, issue_token(session, session.get_one(User, row.user_id), "bench")[1])
            for row in session.scalars(select(Assignment).where(*wanted))
        ]
        return World(admin, issue_token(session, admin, "bench")[1], jobs)


def answering(url: str, jobs: list[Job], ended: Event) -> int:
    """Answer the questions of unfinished work until the visits have ended; return how many."""
    count = 0
    with httpx.Client(base_url=url, timeout=120) as client:
        for job in jobs:
            state: dict[str, Any] = client.get(job.url, headers=job.headers).json()
            while state.get("state") == "asking" and not ended.is_set():
                sent = client.post(
                    f"{job.url}/judgments", headers=job.headers, json=answer_to(state)
                )
                count += sent.status_code == 200
                state = sent.json() if sent.status_code == 200 else state
                ended.wait(0.2)
    return count


def asking(url: str, token: str, part: str, ended: Event) -> Counter[int]:
    """Ask the API for a result until the visits have ended; return its answers by status."""
    found: Counter[int] = Counter()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=url, headers=headers, timeout=600) as client:
        while not ended.is_set():
            with suppress(httpx.TransportError):
                found[client.get(f"/api/v1/studies/{SLUG}/{part}").status_code] += 1
    return found


def computing(sessions: Sessions, ended: Event) -> int:
    """Queue the report whenever it is computed, until the visits have ended; return how often."""
    reports: set[int] = set()
    while not ended.wait(0.5):
        with sessions.write.begin() as session:
            study = session.scalars(select(Study)).one()
            stored = stored_result(session, study.id, "report", "agreement")
            reports |= {stored.job_id} if stored else set()
            if active_job(session, study.id, "report") is None:
                store.queue_job(session, study, "report", {})
    return len(reports)


def visiting(url: str, cookie: str, enough: Callable[[], bool]) -> dict[str, Any]:
    """Open every page until ``enough``; return the statuses, and the longest waits."""
    statuses: Counter[int] = Counter()
    refused: Counter[str] = Counter()
    slowest: dict[str, float] = {}
    passes = 0
    with httpx.Client(base_url=url, cookies={SESSION_COOKIE: cookie}, timeout=120) as client:
        while passes < PASSES or not enough():
            for page in PAGES:
                began = time.perf_counter()
                status = client.get(page).status_code
                statuses[status] += 1
                refused[page] += status != 200
                slowest[page] = max(slowest.get(page, 0), time.perf_counter() - began)
            passes += 1
    longest = sorted(slowest.items(), key=lambda item: -item[1])[:3]
    return {
        "passes": passes,
        "statuses": dict(statuses),
        "refused": dict(+refused),
        "slowest_s": {page: round(seconds, 2) for page, seconds in longest},
    }


def live(url: str, folder: Path, sessions: Sessions, world: World) -> dict[str, Any]:
    """Visit all pages of a server that computes and receives answers."""
    ended = Event()
    with serving(url, folder, work=True) as server, ThreadPoolExecutor() as pool:
        answers = [
            pool.submit(answering, server.url, world.jobs[index::2], ended) for index in range(2)
        ]
        asked = [
            pool.submit(asking, server.url, world.token, part, ended)
            for part in ("report", "adjudication")
        ]
        reports = pool.submit(computing, sessions, ended)
        stored = make_sessions(sessions.read.kw["bind"])

        def enough() -> bool:
            with stored.read() as session:
                found = stored_result(session, 1, "report", "agreement")
            return found is not None and found.job_id >= REPORTS

        try:
            found = visiting(server.url, _cookie(folder, world.admin), enough)
        finally:
            ended.set()
        return {
            **found,
            "answers": sum(each.result() for each in answers),
            "computed_by_the_api": [dict(each.result()) for each in asked],
            "reports": reports.result(),
        }


def own_time(url: str, folder: Path, admin: User) -> dict[str, float]:
    """Return the processor seconds of each page, visited alone in this process."""
    settings = Settings(
        database_url=url,
        secret_file=folder / "topkapi.secret",
        upload_dir=folder / "up",
        _env_file=None,
    )
    app, found = create_app(settings), {}
    with open_client(app) as client:
        sign_in(app, client, admin)
        for page in PAGES:
            times = []
            for _ in range(4):
                began = time.process_time()
                client.get(page).raise_for_status()
                times.append(time.process_time() - began)
            found[page] = round(statistics.median(times[1:]), 3)
    return found


def measure(url: str) -> dict[str, Any]:
    """Fill a database and measure on it."""
    engine = make_engine(url)
    sessions = make_sessions(engine)
    world = fill(sessions)
    with tempfile.TemporaryDirectory() as name:
        found = live(url, Path(name), sessions, world)
        own = own_time(url, Path(name), world.admin)
    engine.dispose()
    costly = sorted(own.items(), key=lambda item: -item[1])
    return {**found, "most_cpu_s": dict(costly[:5]), "median_cpu_s": costly[len(costly) // 2][1]}


def fits(found: dict[str, Any]) -> bool:
    """Return whether answers arrived and every page was answered, within the limit."""
    answered = {*found["statuses"]} == {200} and found["answers"] > 0
    return answered and max(found["most_cpu_s"].values()) <= LIMIT_SECONDS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--database", choices=("sqlite", "postgresql"))
    only = parser.parse_args().database
    missed = False
    with databases() as urls:
        for name, url in urls.items():
            if only in (None, name):
                found = measure(url)
                missed |= not fits(found)
                print(json.dumps({"bench": "dashboard_busy", "database": name, **found}, indent=1))
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

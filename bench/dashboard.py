"""Server time of the dashboard and the queue, for large studies.

    python -m bench.dashboard [--full]

On SQLite and PostgreSQL, with the studies of `bench.dashboard_studies`. ``cold`` is the
administrator's start page over all of them, from a server process that has just begun to listen and
has answered nothing. The others are requests answered in this process: ``first_ms`` is the first of
its kind, before sums of a large study are cached for some seconds; ``cpu_ms`` is its cost on a
machine that is busy with other things.

The start page sums up the assignments of every study that is not archived, in one pass each, and
counts the answers of studies with at most 50,000. Its cost grows with assignments and answers, by
about 10 ms per 8,000 assignments and 40 ms per 50,000 answers, not with queries or documents. What
a process does once (routes, mappers, templates, compiled code) it does before it listens.

The limit is 150 ms for the first study, the queue and the start page, 400 ms for the start page of
a fresh server, 300 ms for the study where everybody works on everything; the exit code is 1 if it
is exceeded.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from bench.dashboard_studies import ADMIN, make_studies
from bench.judging import databases
from tests.clients import open_client
from tests.factories import sign_in
from tests.live import serving, wait_until_listening
from topkapi.app.config import Settings
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import User
from topkapi.app.installation.secret import load_secret
from topkapi.app.main import create_app
from topkapi.app.web.common.cookies import SESSION_COOKIE, Cookies

LIMIT_MS, COLD_LIMIT_MS, FULL_LIMIT_MS = 150, 400, 300
COLD_RUNS = 5


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


def cold_times(url: str, folder: Path, admin: User) -> dict[str, float]:
    """Return the time of the first request to servers that have just begun to listen."""
    with httpx.Client(cookies={SESSION_COOKIE: _cookie(folder, admin)}, timeout=30) as client:
        times = [_first_request(url, folder, client) for _ in range(COLD_RUNS)]
    return {"median_ms": round(statistics.median(times), 1), "most_ms": round(max(times), 1)}


def _cookie(folder: Path, admin: User) -> str:
    secret = load_secret(folder / "topkapi.secret")
    return Cookies(secret, lifetime=timedelta(hours=1), secure=False).session_token(admin)


def _first_request(url: str, folder: Path, client: httpx.Client) -> float:
    with serving(url, folder, wait=wait_until_listening) as server:
        begin = time.perf_counter()
        page = client.get(f"{server.url}/")
        took = 1000 * (time.perf_counter() - begin)
        assert "Person 0" in page.raise_for_status().text
        return took


def request_times(
    url: str, folder: Path, people: tuple[User, User], slugs: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return times of the queue of an assessor, and of the start and progress pages of an admin."""
    settings = Settings(
        database_url=url,
        secret_file=folder / "topkapi.secret",
        upload_dir=folder / "up",
        _env_file=None,
    )
    app = create_app(settings)
    with open_client(app) as client:
        sign_in(app, client, people[1])
        found = {"queue": timed(partial(_visit, client, "/queue"))}
        sign_in(app, client, people[0])
        found["start"] = timed(partial(_visit, client, "/"))
        for slug in slugs:
            base = f"/studies/{slug}/progress"
            for label, address in (
                ("dashboard", base),
                ("sorted", f"{base}?sort=-pace&qsort=-expected_left&page=2&qpage=3"),
                ("filtered", f"{base}?person=Person+01&query=7"),
                ("poll", f"{base}?seen=x"),
            ):
                found[f"{slug} {label}"] = timed(partial(_visit, client, address))
    return found


def measure(url: str, *, full: bool) -> dict[str, dict[str, float]]:
    """Fill a database and measure everything on it."""
    engine = make_engine(url)
    first = make_studies(engine, full=full)[0]
    with make_sessions(engine).read() as session:
        admin = session.scalars(select(User).where(User.email == ADMIN)).one()
        assessor = session.get_one(User, first)
    engine.dispose()
    slugs = ("deep", "wide", "early", *(["full"] if full else []))
    with tempfile.TemporaryDirectory() as name:
        cold = cold_times(url, Path(name), admin)
        return {"cold": cold, **request_times(url, Path(name), (admin, assessor), slugs)}


def fits(found: dict[str, dict[str, float]], *, full: bool) -> bool:
    """Return whether a database's times are within the limits."""
    usual = max(
        found[key]["median_ms"] for key in ("queue", "start", "deep dashboard", "deep poll")
    )
    widest = max((each["median_ms"] for name, each in found.items() if "full " in name), default=0)
    cold = full or found["cold"]["median_ms"] < COLD_LIMIT_MS
    return usual < LIMIT_MS and widest < FULL_LIMIT_MS and cold


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--full", action="store_true", help="everybody on every query as well")
    full = parser.parse_args().full
    with databases() as urls:
        found = {name: measure(url, full=full) for name, url in urls.items()}
    print(json.dumps(found, indent=1))
    return int(not all(fits(each, full=full) for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())

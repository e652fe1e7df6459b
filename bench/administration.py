"""Memory of a worker over an hour of administration: reports, exports, imports, models.

    .venv/bin/python -m bench.administration --minutes 60

One real server with one worker, its own job worker and the demo study. Every round opens the pages
and the API as an administrator does: reports, systems, lists, every export, an import, progress,
and every fifth round a comparison of models. The bound is 1.3 times the memory at the start.
"""

import argparse
import tempfile
import time
from itertools import count, takewhile
from pathlib import Path

import httpx

from bench.judging import databases
from bench.memory import resident_megabytes
from tests.live import LiveServer, serving
from tests.studies import small_study, zipped
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.queries.accounts.accounts import demo_users
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts.tokens import issue_token
from topkapi.app.services.demo import load_demo
from topkapi.app.services.results.exports import EXPORTS

STUDY = "/api/v1/studies/everyday-questions"
READ = ("", "/report", "/lists", "/systems/scores", "/progress", "/queries", "/documents", "/jobs")
BOUND = 1.3


def administrate(client: httpx.Client, number: int, folder: Path) -> None:
    """Do a round of an administrator's work; a refusal counts as work too."""
    for path in (*READ, *(f"/exports/{name}" for name in EXPORTS)):
        client.get(f"{STUDY}{path}")
    study = small_study(folder / f"study-{number}", queries=40, documents=40)
    client.post(f"/api/v1/studies?slug=study-{number}", content=zipped(study)).raise_for_status()
    if number % 5 == 0:
        chosen = {"kind": "models", "truth": "topk", "models": ["regression", "ranksvm"]}
        client.post(f"{STUDY}/jobs", json=chosen).raise_for_status()


def at_rest(server: LiveServer) -> float:
    """Return the memory when a server that has started loads nothing more."""
    readings = [0.0]
    while len(readings) < 6 or readings[-1] - readings[-6] > 1:
        time.sleep(2)
        readings.append(resident_megabytes(server))
    return readings[-1]


def token_of_administrator(sessions: Sessions) -> str:
    """Load the demo and return a token of its administrator."""
    with sessions.write.begin() as session:
        load_demo(session)
        admin = next(each for each in demo_users(session) if each.role == Role.ADMIN)
        return issue_token(session, admin, "bench")[1]


def measure(name: str, url: str, folder: Path, minutes: float) -> bool:
    """Print the memory by rounds; return whether it stays within the bound."""
    engine = make_engine(url)
    headers = {"Authorization": f"Bearer {token_of_administrator(make_sessions(engine))}"}
    engine.dispose()
    with serving(url, folder, workers="1", work=True) as server:
        first = now = at_rest(server)
        print(f"{name}: {first:.0f} MB at the start", flush=True)
        with httpx.Client(base_url=server.url, headers=headers, timeout=120) as client:
            end = time.monotonic() + 60 * minutes
            for number in takewhile(lambda _: time.monotonic() < end, count(1)):
                administrate(client, number, folder)
                now = resident_megabytes(server)
                print(f"  round {number:>3}: {now:.0f} MB, {now / first:.2f} times", flush=True)
    return now <= BOUND * first


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60, help="of work, on each database")
    parser.add_argument("--database", choices=["sqlite", "postgresql"])
    chosen = parser.parse_args()
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        within = [
            measure(name, url, Path(folder), chosen.minutes)
            for name, url in urls.items()
            if chosen.database in (None, name)
        ]
    if not all(within):
        raise SystemExit(f"more than {BOUND} times")


if __name__ == "__main__":
    main()

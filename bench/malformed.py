"""Malformed requests, thousands of them: none may be answered with a 500.

    .venv/bin/python -m bench.malformed --requests 20000
    .venv/bin/python -m bench.malformed --database sqlite --seed 7 --requests 500

The program runs in this process on a fresh database of each kind; requests of
`bench.malformed_requests` come from nobody, from an assessor, a researcher and an administrator, by
cookie with a right and a wrong CSRF token and by bearer token; some carry files of studies, runs
and assignments. Printed are the statuses and each distinct 5xx with the request that caused it,
except a 503 that says when to try again. The exit code is 1 if there is one.
"""

import argparse
import asyncio
import gzip
import logging
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from sqlalchemy import select
from sqlalchemy.orm import Session

from bench.judging import databases
from bench.malformed_requests import Generator, Sent, endpoints_of
from tests.factories import make_study, make_user, queries_of
from tests.judging import make_job
from tests.services.importing.test_media import media_study
from tests.studies import small_study, zipped
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import EntryLink, Study, User
from topkapi.app.domain.crowds import Platform
from topkapi.app.domain.enums import Role
from topkapi.app.main import create_app
from topkapi.app.services.accounts import tokens
from topkapi.app.services.accounts.invitations import new_link
from topkapi.app.services.crowds.links import create_link
from topkapi.app.services.jobs.store import queue_job
from topkapi.app.services.results.systems.runs import add_runs, read_runs
from topkapi.app.web.common.cookies import CSRF_HEADER, SESSION_COOKIE, VISITOR_COOKIE, Cookies

Identities = dict[str, list[tuple[bytes, bytes]]]
RUN = b"q0 Q0 q0-d1 1 2.5 bm25\nq0 Q0 q0-d2 2 1.5 bm25\n"
JOBS: dict[str, dict[str, Any]] = {
    "models": {"models": ["ranksvm"], "truth": "topk", "features": [], "consensus": ""},
    "confidence": {},
    "report": {},
}
REFRESH = 100  # requests after which cookies are renewed: some requests sign people out


@dataclass
class Outcome:
    """Statuses of the replies, and each distinct fault with its first request."""

    statuses: Counter[int] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)


class Faults(logging.Handler):
    """Keeps the exception of the last unexpected error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.last: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the record's exception."""
        self.last = record.exc_info[1] if record.exc_info else None


class Cast:
    """The people who send requests, and the values they may name."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._sessions: Sessions = app.state.sessions
        self.files = files()
        with self._sessions.write.begin() as session:
            self._users = {role: make_user(session, role=role) for role in Role}
            victim = make_user(session, email="victim@example.org")
            self._tokens = {
                role: tokens.issue_token(session, user, "bench")[1]
                for role, user in self._users.items()
            }
        self.known: dict[str, list[Any]] = {
            **{"slug": ["tulips"], "confirm": ["tulips"], "user_id": [victim.id], "token_id": [1]},
            **{"assignment_id": [1], "format": ["topk.jsonl", "qrels"]},
            **{"email": [victim.email], "assessor": [victim.email], "assessors": [[victim.email]]},
            **{"query": ["q0"], "tool": ["pairs", "grades", "lists"], "round": [1], "rounds": [1]},
            **{
                "position": [0, 1, 2],
                "answer": ["left", "tie"],
                "left": ["q0-d1"],
                "role": [*Role],
            },
            **{
                "right": ["q0-d2"],
                "step": ["undo", "redo"],
                "kind": ["start"],
                "people": [victim.id],
            },
            **{"sort": ["name"], "page": [1], "limit": [5], "offset": [0], "state": ["open"]},
            **{"job_id": [1], "run_id": [1], "baseline": ["ranksvm"], "table": ["curves"]},
            **{"model": ["ranksvm"], "models": [["ranksvm"]], "truth": ["topk"]},
            **{"link_id": [1], "token": ["x" * 64], "platform": ["prolific", "mturk", "other"]},
            **{"consent": ["I agree."], "code": ["C1"], "share": [1, 2], "closed": [True, False]},
            **{"PROLIFIC_PID": ["w1"], "workerId": ["w1"], "worker": ["w1"], "agree": ["yes"]},
            **{"upload_id": ["0" * 32], "filename": ["study.zip", "run.txt", "a.letor"]},
            **{"dry_run": ["true", "false"], "edits": ["keep", "replace"], "split": ["train"]},
            **{"settings": [{"k": 5}, {"name": "T"}], "name": ["Ansa"], "path": ["style.css", ""]},
        }

    def identities(self) -> Identities:
        """Return the headers of each sender, with currently valid cookies."""
        cookies: Cookies = self._app.state.cookies
        csrf = (CSRF_HEADER.lower().encode(), cookies.csrf_token("n" * 32).encode())
        visitor = [(b"cookie", f"{VISITOR_COOKIE}={'n' * 32}".encode()), csrf]
        found: Identities = {"nobody": [], "visitor": visitor}
        with self._sessions.write.begin() as session:
            self._restore_study(session)
            for role, user in self._users.items():
                now = session.get_one(User, user.id)
                now.disabled_at, now.role = None, role
                token = f"{SESSION_COOKIE}={cookies.session_token(now, 'nonce')}".encode()
                right = (CSRF_HEADER.lower().encode(), cookies.csrf_token("nonce").encode())
                found[f"{role} by cookie"] = [(b"cookie", token), right]
                found[f"{role} with a wrong CSRF token"] = [(b"cookie", token), (right[0], b"x")]
                bearer = f"Bearer {self._tokens[role]}".encode()
                found[f"{role} by token"] = [(b"authorization", bearer)]
        return found

    def _restore_study(self, session: Session) -> None:
        """Recreate the study and its assignments if a request has deleted it."""
        study = session.scalar(select(Study).where(Study.slug == "tulips"))
        if study is None:
            study = make_study(session, slug="tulips", queries=2)
            query = queries_of(session, study)[0]
            job = make_job(session, user=self._users[Role.ASSESSOR], query=query)
            self.known["assignment_id"].append(job.assignment_id)
            started = [
                queue_job(session, study, kind, parameters) for kind, parameters in JOBS.items()
            ]
            self.known["job_id"] += [each.id for each in started]
            link = EntryLink(
                platform=Platform.PROLIFIC,
                consent="I agree to take part.",
                **{"code": "C1", "redirect_url": "", "screen_out": "", "share": 2, "rounds": 1},
            )
            token = create_link(session, study, link)
            self.known["link_id"].append(link.id)
            self.known["token"] += [token, new_link(session, make_user(session))]
            added = add_runs(session, study, read_runs([("run.txt", RUN)]), actor_id=None)
            self.known["run_id"] += [each.id for each in added]
        study.archived_at = None


def files() -> dict[str, list[bytes]]:
    """Return the files that each path accepts."""
    with tempfile.TemporaryDirectory() as folder:
        study = zipped(small_study(Path(folder) / "study"))
        media = zipped(media_study(Path(folder) / "media"))
    letor = b"2 qid:1 1:0.5 2:0.1 #docid = d1\n0 qid:1 1:0.1 2:0.9 #docid = d2\n"
    studies, runs = [study, media, letor], [RUN, gzip.compress(RUN)]
    csv = [b"email,query,tool\nvictim@example.org,q0,pairs\n"]
    return {
        **{"/imports": studies, "/api/v1/studies": studies},
        **{"/studies/{slug}/systems": runs, "/api/v1/studies/{slug}/systems": runs},
        **{"/studies/{slug}/assign/csv": csv, "/api/v1/studies/{slug}/assignments/csv": csv},
    }


async def answer(app: FastAPI, sent: Sent) -> tuple[int, bool]:
    """Send one request to the application as a server would.

    Return the status, and whether the reply says when to try again.
    """
    messages: list[dict[str, Any]] = [
        {"type": "http.request", "body": sent.body, "more_body": not sent.whole}
    ]
    status, again = 0, False

    async def receive() -> dict[str, Any]:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        nonlocal status, again
        status = message.get("status", status)
        again |= any(name == b"retry-after" for name, _ in message.get("headers", ()))

    scope = {
        **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http"},
        **{"method": sent.method, "path": sent.path, "raw_path": sent.raw_path, "root_path": ""},
        **{"query_string": sent.query, "client": ("127.0.0.1", 50000), "server": ("localhost", 80)},
        "headers": [(b"host", b"localhost"), *sent.headers],
    }
    await app(scope, receive, send)
    return status, again


async def attack(app: FastAPI, seed: str, count: int) -> Outcome:
    """Send ``count`` requests one after another."""
    outcome, faults = Outcome(), Faults()
    log = logging.getLogger("topkapi")
    log.addHandler(faults)
    cast = Cast(app)
    generator = Generator(seed, endpoints_of(app), cast.known, cast.files)
    async with app.router.lifespan_context(app):
        for number in range(count):
            if number % REFRESH == 0:
                identities = cast.identities()
            sent = generator.draw(identities)
            await _note(app, sent, outcome, faults)
    log.removeHandler(faults)
    return outcome


async def _note(app: FastAPI, sent: Sent, outcome: Outcome, faults: Faults) -> None:
    try:
        status, again = await answer(app, sent)
    except Exception as error:  # after the response began, the server can only disconnect
        status, again, faults.last = 500, False, error
    outcome.statuses[status] += 1
    if status >= 500 and (status != 503 or not again):
        outcome.faults.setdefault(_where(status, faults.last), str(sent))


def _where(status: int, error: BaseException | None) -> str:
    if error is None:
        return f"{status} without a traceback"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename] or frames
    at = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{status} {type(error).__name__} at {at}: {str(error)[:200]}"


def run(url: str, seed: str, count: int) -> Outcome:
    """Attack the application on the database at ``url``."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            database_url=url,
            secret_file=Path(folder) / "secret",
            upload_dir=Path(folder) / "uploads",
            _env_file=None,
        )
        return asyncio.run(attack(create_app(settings), seed, count))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--database", choices=["sqlite", "postgresql"], action="append")
    chosen = parser.parse_args()
    logging.lastResort = None  # hides the warnings of libraries
    failed = False
    with databases() as urls:
        for name in chosen.database or urls:
            start = time.perf_counter()
            outcome = run(urls[name], chosen.seed, chosen.requests)
            seconds = time.perf_counter() - start
            counts = ", ".join(f"{status}: {n}" for status, n in sorted(outcome.statuses.items()))
            print(f"{name}: {chosen.requests} requests in {seconds:.0f} s; {counts}")
            for fault, request in outcome.faults.items():
                print(f"  {fault}\n    {request}")
            failed = failed or bool(outcome.faults)
    sys.exit(failed)


if __name__ == "__main__":
    main()

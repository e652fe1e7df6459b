"""Store a database of the current schema with sessions in progress, for the upgrade test.

    .venv/bin/python -m tests.upgrades.store

Run it with the code of a release, and commit the file it writes: from then on the test migrates
that database to the newest schema and back.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select
from sqlalchemy.orm import Session

from tests.clients import open_client
from tests.factories import PASSWORD, make_user
from tests.judging import Job
from tests.studies import small_study, write_jsonl
from tests.upgrades.dumps import rows_of, write_dump
from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Study
from topkapi.app.domain.enums import Role, TimerKind, Tool
from topkapi.app.main import create_app
from topkapi.app.services.accounts import tokens
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.importing import import_study, open_source
from topkapi.app.services.judging import timing
from topkapi.app.services.judging.timing import TimerReport


@dataclass(frozen=True)
class Work:
    """One assignment to create: assessor, query, number of answers, and how many are undone."""

    study: str
    query: str
    email: str
    tool: Tool
    answers: int
    undone: int = 0
    round: int = 1


WORK = (
    Work("small", "q0", "ansa@example.org", Tool.PAIRS, answers=5, undone=1),
    Work("small", "q1", "bo@example.org", Tool.PAIRS, answers=4),
    Work("small", "q0", "cleo@example.org", Tool.GRADES, answers=3, undone=1),
    Work("small", "q1", "cleo@example.org", Tool.GRADES, answers=6),
    Work("small", "q0", "dag@example.org", Tool.LISTS, answers=2),
    Work("small", "q1", "dag@example.org", Tool.LISTS, answers=2, undone=1),
    Work("sampled", "q0", "ansa@example.org", Tool.PAIRS, answers=4, undone=1),
    Work("sampled", "q1", "bo@example.org", Tool.PAIRS, answers=3),
    Work("small", "q0", "bo@example.org", Tool.PAIRS, answers=0, round=2),
)
ALL_TOOLS = 'tools = ["pairs", "grades", "lists"]\nlists_pairs = "active"\nlists_size = 4\n'
SAMPLED = 'sorter = "robust"\nbudget = 9\n'


def body_for(state: dict[str, Any]) -> dict[str, Any]:
    """Return the body that answers the open question of any tool."""
    question = state["question"]
    shown = {side: page["id"] for side, page in question.items()}
    body: dict[str, Any] = {"position": state["position"], "active_ms": 2500, **shown}
    if state["tool"] == "grades":
        return {**body, "answer": state["answers"][state["position"] % 3]}
    if state["tool"] == "lists":
        return {**body, "answer": "right_much", "note": "shorter, but better"}
    return {**body, "answer": "left" if shown["left"] < shown["right"] else "right"}


def open_question(state: dict[str, Any]) -> dict[str, Any]:
    """Return what an assessor sees: position, names of the shown pages, the result."""
    question = state["question"] or {}
    return {
        "position": state["position"],
        "shown": {side: page["id"] for side, page in question.items()},
        "result": state["result"],
    }


def main() -> None:
    """Create the database and store its dump under the head revision."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        url = f"sqlite:///{folder / 'topkapi.db'}"
        migrations.upgrade(url)
        engine = make_engine(url)
        with make_sessions(engine).write.begin() as session:
            jobs = _make_rows(session, folder)
        settings = Settings(
            database_url=url, secret_file=folder / "secret", upload_dir=folder, _env_file=None
        )
        with open_client(create_app(settings)) as client:
            expected = [_judge(client, work, job) for work, job in zip(WORK, jobs, strict=True)]
        revision = migrations.head_revision()
        dump = {"revision": revision, "expected": expected, "tables": rows_of(engine)}
        write_dump(dump)
        engine.dispose()


def _make_rows(session: Session, folder: Path) -> list[Job]:
    admin = make_user(session, role=Role.ADMIN, email="admin@example.org", password=PASSWORD)
    texts = {}
    for name in ("ansa", "bo", "cleo", "dag"):
        user = make_user(session, email=f"{name}@example.org", name=name.title())
        _, texts[user.email] = tokens.issue_token(session, user, "programs", actor_id=admin.id)
    studies = {
        slug: _import(session, folder / slug, slug, more)
        for slug, more in (("small", ALL_TOOLS), ("sampled", SAMPLED))
    }
    return [_assign(session, studies[work.study], work, texts[work.email]) for work in WORK]


def _import(session: Session, folder: Path, slug: str, more: str) -> Study:
    small_study(folder, documents=6)
    (folder / "study.toml").write_text(f'name = "Upgrade {slug}"\nslug = "{slug}"\nk = 3\n{more}')
    names = [[f"d{6 * query + number}" for number in range(6)] for query in range(2)]
    rankings = [
        {"query": f"q{query}", "system": f"s{turn}", "documents": [*pages[turn:], *pages[:turn]]}
        for query, pages in enumerate(names)
        for turn in range(4)
    ]
    write_jsonl(folder / "rankings.jsonl", rankings)
    with open_source(folder) as source:
        import_study(session, source)
    return session.scalars(select(Study).where(Study.slug == slug)).one()


def _assign(session: Session, study: Study, work: Work, token: str) -> Job:
    made = manual_assignment.assign_one(
        session, study, email=work.email, query=work.query, tool=work.tool, round_number=work.round
    )
    for kind in (TimerKind.START, TimerKind.HEARTBEAT):
        timing.record_event(
            session, assignment_id=made.id, user_id=made.user_id, report=TimerReport(kind, 0)
        )
    return Job(made.id, token)


def _judge(client: httpx.Client, work: Work, job: Job) -> dict[str, Any]:
    client.headers.update(job.headers)
    state = client.get(job.url).json()
    for _ in range(work.answers):
        state = client.post(f"{job.url}/judgments", json=body_for(state)).json()
    for _ in range(work.undone):
        state = client.post(f"{job.url}/undo", json={"position": state["position"]}).json()
    return {"assignment": job.assignment_id, "token": job.token, **open_question(state)}


if __name__ == "__main__":
    main()

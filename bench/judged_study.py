"""A large study with every session finished by simulated assessors, written directly to the
tables.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from sqlalchemy import Engine, insert, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import make_sessions
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    JudgmentRow,
    Query,
    Study,
    TimerEvent,
    User,
)
from topkapi.app.domain.assignment.rotation import rotation
from topkapi.app.domain.enums import Role, TimerKind, Tool
from topkapi.app.domain.grades.session import AskingGrade, Grading
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.domain.session import AnySession
from topkapi.app.domain.sessions import SESSIONS
from topkapi.app.domain.study import StudySettings, stored_plan

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
BOTH = (Tool.PAIRS, Tool.GRADES)
SLUG = "full"
SETTINGS = StudySettings(k=10, tools=BOTH, check_share=0.1)
CUTS = (-0.25, 0.39, 0.95, 1.65)  # of normal worths: grades in shares of about 40, 25, 18, 12, 5 %
UNDONE = 0.01  # share of answers that are undone and answered again


def make_judged_study(
    engine: Engine,
    *,
    assessors: int,
    queries: int,
    documents: int,
    rounds: int,
    finished: int | None = None,
) -> int:
    """Fill an empty database, judging each query ``rounds`` times per tool; return the entries.

    If fewer are to be ``finished``, the others, spread over all, wait.
    """
    with make_sessions(engine).write.begin() as session:
        people = _people(session, assessors)
        offered = _queries(session, queries, documents)
    noise = {user: 0.1 + 0.6 * index / assessors for index, user in enumerate(people)}
    shares = rotation(list(offered), people, BOTH, rounds=rounds, seed="bench")
    entries, done = 0, len(shares) if finished is None else finished
    for start in range(0, len(shares), 500):
        with make_sessions(engine).write.begin() as session:
            for number, share in enumerate(shares[start : start + 500], start):
                pages = offered[share.query]
                if (number + 1) * done // len(shares) > number * done // len(shares):
                    entries += _work(session, share, pages, noise[share.assessor])
                else:
                    plan = stored_plan(SETTINGS, share.tool, pages, f"{share.assessor}")
                    session.add(_assignment(share, plan))
    return entries


def _people(session: Session, count: int) -> list[int]:
    rows = [
        {"email": f"p{n:03}@bench.example", "name": f"Person {n:03}", "role": Role.ASSESSOR}
        for n in range(count)
    ]
    session.execute(insert(User), rows)
    return list(session.scalars(select(User.id).order_by(User.email)))


def _queries(session: Session, queries: int, documents: int) -> dict[int, list[int]]:
    study = Study(slug=SLUG, name="Full size", settings=SETTINGS)
    content = Content(hash="0" * 64, media_type="text/plain", data=b"x", size=1, text="x")
    session.add_all([study, content])
    session.flush()
    offered = {}
    for index in range(queries):
        query = Query(study_id=study.id, external_id=f"q{index}", text=f"query {index}")
        query.position = index
        session.add(query)
        session.flush()
        names = [f"q{index}-d{n}" for n in range(documents)]
        rows = [
            {"study_id": study.id, "external_id": name, "content_hash": content.hash}
            for name in names
        ]
        session.execute(insert(Document), rows)
        found = select(Document.id).where(Document.external_id.in_(names)).order_by(Document.id)
        ids = list(session.scalars(found))
        links = [{"query_id": query.id, "document_id": d, "position": n} for n, d in enumerate(ids)]
        session.execute(insert(Candidate), links)
        offered[query.id] = ids
    return offered


def _work(session: Session, share: Any, pages: list[int], noise: float) -> int:
    """Create one finished session: the assignment, its clock and its log."""
    truth = Random(f"truth {share.query}")
    worth = {page: truth.gauss() for page in pages}
    draw = Random(f"{share.assessor} {share.query} {share.tool}")
    plan = stored_plan(SETTINGS, share.tool, pages, f"{share.assessor}-{share.query}")
    live = SESSIONS[share.tool].open(plan)
    seen = {page: each + noise * draw.gauss() for page, each in worth.items()}
    entries = list(_entries(live, seen, draw))
    at = START + timedelta(minutes=draw.randrange(50_000))
    assignment = _assignment(share, plan)
    assignment.created_at = at - timedelta(days=1)
    assignment.answered, assignment.expected_left = live.answered, 0
    assignment.active_ms = 5000 * len(entries)
    assignment.finished_at = assignment.last_entry_at = at + timedelta(seconds=8 * len(entries))
    session.add(assignment)
    session.flush()
    session.add(TimerEvent(assignment_id=assignment.id, kind=TimerKind.START, created_at=at))
    empty = {"question_kind": None, "left_id": None, "right_id": None, "answer": None}
    session.execute(
        insert(JudgmentRow),
        [
            {
                **empty,
                "assignment_id": assignment.id,
                "position": position,
                "entry": entry.kind,
                "active_ms": 2000 + draw.randrange(6000),
                "wall_ms": 8000,
                "note": None,
                "created_at": at + timedelta(seconds=8 * (position + 1)),
                **(live.columns(entry.judgment) if entry.judgment is not None else {}),
            }
            for position, entry in enumerate(entries)
        ],
    )
    return len(entries)


def _assignment(share: Any, plan: dict[str, Any]) -> Assignment:
    return Assignment(
        user_id=share.assessor, query_id=share.query, tool=share.tool, round=share.round, plan=plan
    )


def _entries(live: AnySession, seen: dict[int, float], draw: Random) -> Iterator[Entry[Any]]:
    while True:
        state = live.state
        if isinstance(state, Asking):
            asked = state.question
            apart = seen[asked.left] - seen[asked.right] + 0.1 * draw.gauss()
            preferred = Answer.LEFT if apart > 0 else Answer.RIGHT
            judgment: Any = Judgment(
                asked.kind, asked.left, asked.right, Answer.TIE if abs(apart) < 0.03 else preferred
            )
        elif isinstance(state, AskingGrade):
            step = sum(seen[state.document] > cut for cut in CUTS)
            judgment = Grading(state.document, SETTINGS.grades[step].name)
        else:
            return
        entry = Entry(EntryKind.ANSWER, judgment)
        live.append(entry)
        yield entry
        if draw.random() < UNDONE:
            for kind in (EntryKind.UNDO, EntryKind.REDO):
                live.append(Entry(kind))
                yield Entry(kind)

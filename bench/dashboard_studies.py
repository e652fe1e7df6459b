"""Studies for `bench.dashboard`, written directly to the tables.

``deep`` has 50 queries with 1,000 candidates each, for 20 people; ``wide`` has 2,000 queries for
200 assessors, two rounds with two tools; ``early`` is as wide and has just begun, with the longest
log that the dashboard reads; in ``full`` everybody works on every query.
"""

from datetime import timedelta
from random import Random
from typing import Any

from sqlalchemy import Engine, insert, select, text
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.engine import make_sessions
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    JudgmentRow,
    Query,
    Study,
    User,
)
from topkapi.app.domain.assignment.rotation import rotation
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.study import StudySettings, stored_plan
from topkapi.app.services.state.study import LARGEST_LOG

BOTH = (Tool.PAIRS, Tool.GRADES)
ADMIN = "admin@bench.example"


def make_studies(engine: Engine, *, full: bool) -> list[int]:
    """Fill an empty database; return the ids of the assessors."""
    with make_sessions(engine).write.begin() as session:
        session.add(User(email=ADMIN, name="Admin", role=Role.ADMIN))
        people = make_people(session, 200)
        for slug, queries, documents, count, rounds in (
            ("deep", 50, 1000, 20, 4),
            ("wide", 2000, 20, 200, 2),
            ("early", 2000, 5, 200, 2),
        ):
            study, offered = make_study(session, slug, queries, documents)
            shares = rotation(list(offered), people[:count], BOTH, rounds=rounds, seed="s")
            work = [(s.assessor, s.query, s.tool, s.round) for s in shares]
            give(session, study, offered, work, begun=slug != "early")
        answer(session, study, offered)
        if full:
            study, offered = make_study(session, "full", 2000, 5)
            everyone = [
                (u, q, Tool.PAIRS, index) for q in offered for index, u in enumerate(people)
            ]
            give(session, study, offered, everyone)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("ANALYZE"))
    return people


def answer(session: Session, study: Study, offered: dict[int, list[int]]) -> None:
    """Answer pairs of a study until its log has the largest length that the dashboard reads."""
    pairs = Assignment.tool == Tool.PAIRS, Query.study_id == study.id
    found = session.scalars(select(Assignment).join(Query).where(*pairs)).all()
    draw, each = Random(2), LARGEST_LOG // len(found)
    for row in found:
        left, right = offered[row.query_id][:2]
        row.answered, row.expected_left, row.active_ms = each, 5, each * 9000
        row.last_entry_at = now()
        entry = {"assignment_id": row.id, "entry": EntryKind.ANSWER, "left_id": left}
        entry |= {"right_id": right, "active_ms": 9000, "wall_ms": 9000}
        session.execute(
            insert(JudgmentRow),
            [
                {**entry, "position": index, "answer": draw.choice(("left", "right"))}
                for index in range(each)
            ],
        )


def make_study(
    session: Session, slug: str, queries: int, documents: int
) -> tuple[Study, dict[int, list[int]]]:
    settings = StudySettings(tools=BOTH, check_share=0.1)
    study = Study(slug=slug, name=slug, settings=settings)
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
    *,
    begun: bool = True,
) -> None:
    draw = Random(1)
    settings = study.settings
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
                **summed(draw, draw.random() if begun else 1.0),
            }
            for user, query, tool, number in work[start : start + 2000]
        ]
        session.execute(insert(Assignment), rows)

"""Studies with judged work, written directly into the log, for tests of exports."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import count
from typing import Any

from sqlalchemy import func, insert, select
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Document,
    JudgmentRow,
    MachineCall,
    Query,
    Study,
    TimerEvent,
    User,
)
from topkapi.app.domain.enums import TimerKind, Tool
from topkapi.app.domain.grades.session import DEFAULT_GRADES, AskingGrade, Grading
from topkapi.app.domain.log import Entry, EntryKind
from topkapi.app.domain.pairs.answers import Answer, Judgment, Question
from topkapi.app.domain.pairs.session import Asking
from topkapi.app.domain.session import AnySession
from topkapi.app.domain.sessions import SESSIONS
from topkapi.app.services.results.exports import EXPORTS

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
Person = Callable[[Question], Answer]


def by_worth(question: Question) -> Answer:
    """Prefer one of the two pages, consistently, by their numbers."""
    left, right = (number * 7919 % 1009 for number in (question.left, question.right))
    return Answer.LEFT if left > right else Answer.RIGHT


def steps(
    session: AnySession, person: Person = by_worth, *, before: int = 0
) -> Iterator[Entry[Any]]:
    """Yield answers until the session is finished; each is appended before the next.

    Answers depend on how far a page's id is above ``before``, the last id that another study has:
    they are the same on a database that other tests have filled.
    """
    while True:
        state = session.state
        if isinstance(state, Asking):
            asked = state.question
            numbered = replace(asked, left=asked.left - before, right=asked.right - before)
            judgment: Any = Judgment(asked.kind, asked.left, asked.right, person(numbered))
        elif isinstance(state, AskingGrade):
            step = (state.document - before) * 7 + len(session.plan.seed)  # type: ignore[attr-defined]
            judgment = Grading(state.document, DEFAULT_GRADES[step % 5])
        else:
            return
        entry = Entry(EntryKind.ANSWER, judgment)
        session.append(entry)
        yield entry


def judge(
    session: Session,
    assignment: Assignment,
    *,
    person: Person = by_worth,
    most: int | None = None,
    undo_at: int | None = None,
    note: str | None = None,
) -> None:
    """Write a log of at most ``most`` entries; at ``undo_at``, undo two and redo one."""
    live = SESSIONS[assignment.tool].open(assignment.plan)
    entries: list[Entry[Any]] = []
    for entry in steps(live, person, before=_first_id(session, assignment) - 1):
        entries.append(entry)
        if len(entries) == undo_at:
            for kind in (EntryKind.UNDO, EntryKind.UNDO, EntryKind.REDO):
                live.append(Entry(kind))
                entries.append(Entry(kind))
        if most is not None and len(entries) >= most:
            break
    session.execute(insert(JudgmentRow), rows_of(assignment, entries, note))
    finished = not live.state.shown
    assignment.answered = live.answered
    assignment.last_entry_at = START + timedelta(seconds=6 * len(entries))
    assignment.finished_at = assignment.last_entry_at if finished else None
    assignment.active_ms = 4000 * len(entries)
    session.flush()


def _first_id(session: Session, assignment: Assignment) -> int:
    """Return the lowest id of a page of the study."""
    study = session.get_one(Query, assignment.query_id).study_id
    return session.scalar(select(func.min(Document.id)).where(Document.study_id == study)) or 1


def rows_of(
    assignment: Assignment, entries: list[Entry[Any]], note: str | None = None
) -> list[dict[str, Any]]:
    """Return the log as rows, six seconds apart."""
    columns = SESSIONS[assignment.tool].columns
    empty = {"question_kind": None, "left_id": None, "right_id": None, "answer": None}
    return [
        {
            **empty,
            "assignment_id": assignment.id,
            "position": position,
            "entry": entry.kind,
            "active_ms": 4000,
            "wall_ms": 6000,
            "note": note if position == 1 else None,
            "created_at": START + timedelta(seconds=6 * position),
            **(columns(entry.judgment) if entry.judgment is not None else {}),
        }
        for position, entry in enumerate(entries)
    ]


def make_grades(session: Session, user: User, query: Query, seed: str = "g") -> Assignment:
    """Assign ``query`` with grades to ``user``; the length of the seed shifts the grades."""
    grades = list(DEFAULT_GRADES)
    return make_assignment(
        session, user=user, query=query, tool=Tool.GRADES, grades=grades, seed=seed
    )


def add_features(session: Session, study: Study, *, named: bool = False) -> None:
    """Set two features per candidate."""
    names = ("bm25", "clicks") if named else ("1", "2")
    statement = select(Candidate).join(Query, Query.id == Candidate.query_id)
    for candidate in session.scalars(statement.where(Query.study_id == study.id)):
        candidate.features = {names[0]: candidate.position / 3, names[1]: candidate.position**2}
    session.flush()


NOTE = 'Both sell "tulips",\n\tbut =one= lies 🌷'


def make_judged_study(session: Session, *, slug: str = "tulips") -> Study:
    """Create a study with three queries and four assessors.

    Ansa finished q0 and q1 with pairs and q2 with grades; Bao finished q0 with undo, checks and
    notes, and has begun q1; Chidi graded q0 and q2; Dee finished q0, which was withdrawn.
    """
    study = make_study(session, slug=slug, queries=3, documents=8)
    add_features(session, study)
    first, second, third = queries_of(session, study)
    numbers = count(1)
    # Not in the order of their e-mails, so that orders and pseudonyms differ.
    bao, ansa, dee, chidi = (
        make_user(session, email=f"{name.lower()}@{slug}.example", name=f"{name} {next(numbers)}")
        for name in ("Bao", "Ansa", "Dee", "Chidi")
    )
    at_q0 = make_assignment(session, user=bao, query=first, check_share=0.5, seed="b0")
    judge(session, at_q0, undo_at=5, note=NOTE)
    judge(session, make_assignment(session, user=bao, query=second, seed="b1"), most=3)
    judge(session, make_assignment(session, user=ansa, query=first, seed="a0"), person=_fussy)
    judge(session, make_assignment(session, user=ansa, query=second, seed="a1"))
    taken = make_assignment(session, user=dee, query=first, seed="d0")
    judge(session, taken)
    taken.withdrawn_at = START + timedelta(days=1)
    for user, query, seed in ((chidi, first, "g"), (chidi, third, "g"), (ansa, third, "gg")):
        judge(session, make_grades(session, user, query, seed))
    make_assignment(session, user=chidi, query=second, seed="c1")
    for seconds, kind, reason in (
        (0, TimerKind.START, None),
        (9, TimerKind.AUTO_PAUSE, "idle, =1+1"),
        (15, TimerKind.HEARTBEAT, None),
    ):
        at = START + timedelta(seconds=seconds)
        session.add(
            TimerEvent(
                assignment_id=at_q0.id,
                kind=kind,
                reason=reason,
                active_ms=1000 * seconds,
                created_at=at,
            )
        )
    session.flush()
    return study


def _fussy(question: Question) -> Answer:
    """Answer with a few ties, one bad page and one broken page."""
    low, high = sorted((question.left, question.right))
    if low % 8 == 3:
        return Answer.LEFT_BAD if question.left == low else Answer.RIGHT_BAD
    if high % 8 == 5:
        return Answer.LEFT_UNJUDGEABLE if question.left == high else Answer.RIGHT_UNJUDGEABLE
    return Answer.TIE if (low + high) % 5 == 0 else by_worth(question)


def judge_in_a_team(session: Session, email: str) -> None:
    """Add a team's work of one answer, with what was learned about its member, and a call."""
    user = session.scalars(select(User).where(User.email == email)).one()
    query = queries_of(session, session.scalars(select(Study)).one())[0]
    row = make_assignment(session, user=user, query=query, round=7, sorter="robust", together=True)
    row.answered = 1
    row.pending_question = {"after": 1, "pair": [1, 2], "errors": [[0.0] * 5, [1.0] * 5, [0.1]]}
    session.flush()
    facts = {"position": 0, "order": "ab", "prompt_number": 1, "model": "fake", "form": "letter"}
    session.add(MachineCall(key="k", assignment_id=row.id, **facts))


def writable_exports() -> list[str]:
    """Return the names of all exports that this environment can write."""
    return [name for name in EXPORTS if find_spec("pyarrow") or not name.endswith(".parquet")]

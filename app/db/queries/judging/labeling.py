"""Data for judging: an assignment with its clock, its log from a position on, pages by id.

Most of this runs with every answer. Statements are built once, because building one costs as much
as running it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Executable, Row, bindparam, func, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, aliased, joinedload
from sqlalchemy.orm.util import identity_key

from topkapi.app.db.base import Base
from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    GoldPair,
    Highlight,
    JudgmentRow,
    Query,
    Study,
    TimerEvent,
)
from topkapi.app.domain.enums import TimerKind, Tool
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import QuestionKind
from topkapi.app.domain.sessions import StoredEntry

AssignmentKey = tuple[int, datetime, str]
Log = Sequence[StoredEntry]


class LastEntry(NamedTuple):
    """The last entry of a log, with the attributes of `JudgmentRow` that describe the answer."""

    position: int
    created_at: datetime
    entry: EntryKind
    question_kind: QuestionKind | None
    left_id: int | None
    right_id: int | None
    left_ranking_id: int | None
    right_ranking_id: int | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class AssignmentHead:
    """An assignment without its plan, which can be long, never changes, and is cached elsewhere.

    ``started_at`` is when a clock was last started since the last entry of the log, and
    ``started_ms`` its reading then; ``elsewhere_at`` is when the person last answered in another
    assignment. ``plan_digest`` identifies the plan, ``archived_at`` is the study's.
    ``terms`` are the person's chosen highlights, if any. ``last`` is the last entry of the log if
    it was read for certain.
    """

    id: int
    user_id: int
    query_id: int
    tool: Tool
    plan_digest: str
    created_at: datetime
    withdrawn_at: datetime | None
    archived_at: datetime | None
    active_ms: int
    last_entry_at: datetime | None
    checks: int
    checks_agreed: int
    known_answers: int
    known_right: int
    pending_question: dict[str, Any] | None
    started_at: datetime | None
    started_ms: int | None
    elsewhere_at: datetime | None
    terms: list[str] | None
    last: LastEntry | None

    @property
    def key(self) -> AssignmentKey:
        """Key that stays unique even if the id is reused: id, creation time and plan digest."""
        return self.id, self.created_at, self.plan_digest


_BEFORE_ALL = literal(datetime(1970, 1, 1, tzinfo=UTC), Assignment.last_entry_at.type)
_LAST_START = (
    select(TimerEvent.id)
    .where(
        TimerEvent.assignment_id == Assignment.id,
        TimerEvent.created_at > func.coalesce(Assignment.last_entry_at, _BEFORE_ALL),
        TimerEvent.kind == TimerKind.START,
    )
    .order_by(TimerEvent.created_at.desc(), TimerEvent.id.desc())
    .limit(1)
    .correlate(Assignment)
    .scalar_subquery()
)
_OTHER = aliased(Assignment)
_ELSEWHERE_AT = (
    select(func.max(_OTHER.last_entry_at))
    .where(_OTHER.user_id == bindparam("user_id"), _OTHER.id != bindparam("assignment_id"))
    .scalar_subquery()
)
_LAST_POSITION = (
    select(func.max(JudgmentRow.position))
    .where(JudgmentRow.assignment_id == Assignment.id)
    .correlate(Assignment)
    .scalar_subquery()
)
_LAST_ENTRY = [getattr(JudgmentRow, name) for name in LastEntry._fields]
_HEAD = (
    select(
        Assignment.id,
        Assignment.user_id,
        Assignment.query_id,
        Assignment.tool,
        Assignment.plan_digest,
        Assignment.created_at,
        Assignment.withdrawn_at,
        Study.archived_at,
        Assignment.active_ms,
        Assignment.last_entry_at,
        Assignment.checks,
        Assignment.checks_agreed,
        Assignment.known_answers,
        Assignment.known_right,
        Assignment.pending_question,
        TimerEvent.created_at,
        TimerEvent.active_ms,
        _ELSEWHERE_AT,
        Highlight.terms,
        *_LAST_ENTRY,
    )
    .join(Query, Query.id == Assignment.query_id)
    .join(Study, Study.id == Query.study_id)
    .outerjoin(TimerEvent, TimerEvent.id == _LAST_START)
    .outerjoin(
        Highlight,
        (Highlight.user_id == Assignment.user_id) & (Highlight.query_id == Assignment.query_id),
    )
    .outerjoin(
        JudgmentRow,
        (JudgmentRow.assignment_id == Assignment.id) & (JudgmentRow.position == _LAST_POSITION),
    )
    .where(Assignment.id == bindparam("assignment_id"), Assignment.user_id == bindparam("user_id"))
)
_HEAD_WIDTH = len(_HEAD.selected_columns) - len(LastEntry._fields)
_LOCKED_HEAD = _HEAD.with_for_update(of=Assignment)
_JUDGMENTS = Base.metadata.tables[JudgmentRow.__tablename__]
_ASSIGNMENTS = Base.metadata.tables[Assignment.__tablename__]
_LOG = (
    select(*_LAST_ENTRY[2:])  # without position and time
    .where(
        JudgmentRow.assignment_id == bindparam("assignment_id"),
        JudgmentRow.position >= bindparam("position"),
    )
    .order_by(JudgmentRow.position)
)
_EMPTY_ENTRY = {
    f"entry_{column.name}": None for column in _JUDGMENTS.columns if column.name != "id"
}
_SUMMARY = (
    *("pending_question", "answered", "expected_left", "active_ms", "last_entry_at"),
    *("checks", "checks_agreed", "known_answers", "known_right", "finished_at"),
    *("team_waits", "added_pages"),
)
_APPEND = {
    dialect: insert(_JUDGMENTS)
    .values({name.removeprefix("entry_"): bindparam(name) for name in _EMPTY_ENTRY})
    .on_conflict_do_nothing(index_elements=["assignment_id", "position"])
    .returning(_JUDGMENTS.c.assignment_id)
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_SUM_UP = update(_ASSIGNMENTS).values(
    {Assignment.__mapper__.columns[name]: bindparam(f"new_{name}") for name in _SUMMARY}
)
_SUM_UP_ONE = _SUM_UP.where(_ASSIGNMENTS.c.id == bindparam("entry_assignment_id"))
_ADDED = _APPEND["postgresql"].cte("added")
_APPEND_AND_SUM_UP = _SUM_UP.where(_ASSIGNMENTS.c.id == _ADDED.c.assignment_id)
# A pair has two pages; a list of arbitrary length has to be expanded each time it is queried.
_TEXTS_OF_TWO = select(Content.hash, Content.text).where(
    Content.hash.in_([bindparam("first"), bindparam("last")])
)
_TEXTS = select(Content.hash, Content.text).where(
    Content.hash.in_(bindparam("hashes", expanding=True))
)


def assignment_of(
    session: Session, assignment_id: int, user_id: int, *, lock: bool = False
) -> AssignmentHead | None:
    """Return the person's assignment; with ``lock`` locked until the transaction ends."""
    whose = {"assignment_id": assignment_id, "user_id": user_id}
    statement: Executable = _LOCKED_HEAD if lock else _HEAD
    row = connection_of(session).execute(statement, whose).one_or_none()
    if row is None:
        return None
    last = LastEntry(*row[_HEAD_WIDTH:])
    # After a wait for the lock, PostgreSQL has read the assignment again, but not the log.
    is_last = last.created_at is not None and last.created_at == row.last_entry_at
    return AssignmentHead(*(*row[:_HEAD_WIDTH], last if is_last else None))


def plan_of(session: Session, assignment_id: int) -> dict[str, Any]:
    """Return the plan that determines an assignment's replay."""
    return session.scalars(select(Assignment.plan).where(Assignment.id == assignment_id)).one()


def append_entry(
    session: Session, assignment_id: int, entry: Mapping[str, Any], summary: Mapping[str, Any]
) -> bool:
    """Append ``entry`` to the log and update the assignment's summary columns.

    Returns False, with nothing written and the transaction intact, if the log already has that
    position.
    """
    connection = connection_of(session)
    values = {
        **_EMPTY_ENTRY,
        "entry_assignment_id": assignment_id,
        **{f"entry_{name}": value for name, value in entry.items()},
        **{f"new_{name}": value for name, value in summary.items()},
    }
    if connection.dialect.name == "postgresql":  # both in one statement, to save a round trip
        added = connection.execute(_APPEND_AND_SUM_UP, values).rowcount == 1
    else:
        added = connection.scalar(_APPEND["sqlite"], values) is not None
        if added:
            connection.execute(_SUM_UP_ONE, values)
    loaded = session.identity_map.get(identity_key(Assignment, assignment_id))
    if loaded is not None:
        session.expire(loaded, _SUMMARY)  # it was written without the session
    return added


def query_with_study(session: Session, query_id: int) -> Query:
    """Return the query with its study loaded."""
    statement = select(Query).where(Query.id == query_id).options(joinedload(Query.study))
    return session.scalars(statement).one()


def gold_pairs(session: Session, query_id: int) -> list[tuple[int, int, str]]:
    """Return left page, right page and right answer of the gold pairs of a query."""
    columns = GoldPair.left_id, GoldPair.right_id, GoldPair.answer
    rows = session.execute(select(*columns).where(GoldPair.query_id == query_id))
    return [(left, right, answer) for left, right, answer in rows]


def known_grades(session: Session, query_id: int) -> dict[int, int]:
    """Return the known grades of a query's candidates."""
    statement = select(Candidate.document_id, Candidate.grade).where(
        Candidate.query_id == query_id, Candidate.grade.is_not(None)
    )
    return {document: grade for document, grade in session.execute(statement) if grade is not None}


def grades_are_binary(session: Session, study_id: int) -> bool:
    """Return whether every known grade of the study is 0 or 1."""
    others = (
        select(Candidate.id)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id, Candidate.grade.not_in((0, 1)))
    )
    return session.scalar(others.limit(1)) is None


def log_after(session: Session, assignment: AssignmentHead, position: int) -> Log:
    """Return the log's entries from ``position`` on, without a query if that is the last one."""
    last = assignment.last
    if last is not None and last.position == position:
        return [last]
    return log_from(session, assignment.id, position)


def log_from(session: Session, assignment_id: int, position: int) -> Log:
    """Return the log's entries from ``position`` on."""
    where = {"assignment_id": assignment_id, "position": position}
    return cast(Log, connection_of(session).execute(_LOG, where).all())


def answers_and_notes(
    session: Session, assignment_id: int
) -> Sequence[tuple[EntryKind, str | None, str | None]]:
    """Return kind, answer and note of every entry of the log."""
    statement = (
        select(JudgmentRow.entry, JudgmentRow.answer, JudgmentRow.note)
        .where(JudgmentRow.assignment_id == assignment_id)
        .order_by(JudgmentRow.position)
    )
    return [(kind, answer, note) for kind, answer, note in session.execute(statement)]


def entry_at(session: Session, assignment_id: int, position: int) -> JudgmentRow | None:
    """Return the entry at ``position``, or None if the log is shorter."""
    statement = select(JudgmentRow).where(
        JudgmentRow.assignment_id == assignment_id, JudgmentRow.position == position
    )
    return session.scalar(statement)


HeadRow = Row[int, str, str, str, str, str, str]


def document_heads(session: Session, document_ids: Sequence[int]) -> Sequence[HeadRow]:
    """Return id, name, title, address, content hash, media type and path of the documents."""
    statement = (
        select(
            Document.id,
            Document.external_id,
            Document.title,
            Document.url,
            Document.content_hash,
            Content.media_type,
            Document.path,
        )
        .join(Content, Content.hash == Document.content_hash)
        .where(Document.id.in_(document_ids))
    )
    return session.execute(statement).all()


def texts_by_hash(session: Session, hashes: Sequence[str]) -> dict[str, str]:
    """Return the plain text of contents by hash."""
    if 1 <= len(hashes) <= 2:
        found = session.execute(_TEXTS_OF_TWO, {"first": hashes[0], "last": hashes[-1]})
    else:
        found = session.execute(_TEXTS, {"hashes": list(hashes)})
    return {digest: text or "" for digest, text in found}


def whole_log(session: Session, assignment_id: int) -> Sequence[JudgmentRow]:
    """Return every entry of the log in order."""
    statement = select(JudgmentRow).where(JudgmentRow.assignment_id == assignment_id)
    return session.scalars(statement.order_by(JudgmentRow.position)).all()

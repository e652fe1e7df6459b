"""Data for exports, read in batches, so that memory does not grow with the study.

An iterator that is closed early closes its cursor.
"""

from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Row, String, func, select, type_coerce
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    JudgmentRow,
    Query,
    TimerEvent,
    User,
)
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.enums import TimerKind, Tool

_BATCH = 200


def hold_still(session: Session) -> None:
    """Give a new session one snapshot of the database for all its statements.

    On SQLite every transaction has one anyway.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})


def count_queries(session: Session, study_id: int) -> int:
    """Return the number of queries of the study."""
    return session.scalar(select(func.count()).where(Query.study_id == study_id)) or 0


def queries_in_order(session: Session, study_id: int) -> Generator[Row[int, str, str], None, None]:
    """Yield id, external id and text of the study's queries."""
    statement = (
        select(Query.id, Query.external_id, Query.text)
        .where(Query.study_id == study_id)
        .order_by(Query.position, Query.id)
    )
    with session.execute(statement.execution_options(yield_per=_BATCH)) as rows:
        yield from rows


def assessors_in_order(session: Session, study_id: int) -> Sequence[Row[int, str, str]]:
    """Return id, e-mail and name of everyone who has or had work, by first assignment."""
    statement = (
        select(User.id, User.email, User.name)
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
        .group_by(User.id, User.email, User.name)
        .order_by(func.min(Assignment.id))
    )
    return session.execute(statement).all()


def people_at_work(session: Session, study_id: int, *, machines: bool = False) -> Sequence[int]:
    """Return ids of everyone who has work that is not withdrawn; with ``machines``, those too."""
    statement = (
        select(Assignment.user_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
        .distinct()
    )
    return session.scalars(statement if machines else statement.where(by_people())).all()


def assignments_of_query(
    session: Session, query_id: int, user_id: int | None, *, machines: bool = False
) -> Sequence[Assignment]:
    """Return all assignments of a query, withdrawn ones too; with ``user_id``, one person's.

    Those of machines are among them only with ``machines``.
    """
    statement = select(Assignment).where(Assignment.query_id == query_id)
    if user_id is not None:
        statement = statement.where(Assignment.user_id == user_id)
    elif not machines:
        statement = statement.where(by_people())
    return session.scalars(statement.order_by(Assignment.id)).all()


def logs_of(session: Session, assignment_ids: Sequence[int]) -> dict[int, list[JudgmentRow]]:
    """Return the logs of assignments, each in order.

    The rows have the attributes of `JudgmentRow` and are plain: tracking each in the session would
    take half as long again.
    """
    found: dict[int, list[JudgmentRow]] = {number: [] for number in assignment_ids}
    statement = (
        select(*JudgmentRow.__table__.columns)
        .where(JudgmentRow.assignment_id.in_(assignment_ids))
        .order_by(JudgmentRow.assignment_id, JudgmentRow.position)
    )
    for row in session.execute(statement):
        found[row.assignment_id].append(cast(JudgmentRow, row))
    return found


def plain_logs(session: Session, assignment_ids: Sequence[int]) -> Sequence[Sequence[Any]]:
    """Return the logs of assignments in order, as plain values: a report reads a million entries.

    A row is the assignment, the entry kind, the question kind, left, right, the answer, active and
    wall time.
    """
    statement = (
        select(
            JudgmentRow.assignment_id,
            type_coerce(JudgmentRow.entry, String),
            type_coerce(JudgmentRow.question_kind, String),
            JudgmentRow.left_id,
            JudgmentRow.right_id,
            JudgmentRow.answer,
            JudgmentRow.active_ms,
            JudgmentRow.wall_ms,
        )
        .where(JudgmentRow.assignment_id.in_(assignment_ids))
        .order_by(JudgmentRow.assignment_id, JudgmentRow.position)
    )
    return session.connection().execute(statement).all()


def first_entries(session: Session, assignment_ids: Sequence[int]) -> dict[int, datetime]:
    """Return when the first entry of each log was made."""
    statement = select(JudgmentRow.assignment_id, JudgmentRow.created_at).where(
        JudgmentRow.assignment_id.in_(assignment_ids), JudgmentRow.position == 0
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def clocks_of(session: Session, assignment_ids: Sequence[int]) -> dict[int, list[TimerEvent]]:
    """Return the clock events of assignments, each in chronological order."""
    found: dict[int, list[TimerEvent]] = {number: [] for number in assignment_ids}
    statement = (
        select(TimerEvent)
        .where(TimerEvent.assignment_id.in_(assignment_ids))
        .order_by(TimerEvent.assignment_id, TimerEvent.created_at, TimerEvent.id)
    )
    for row in session.scalars(statement):
        found[row.assignment_id].append(row)
    return found


def first_starts(session: Session, assignment_ids: Sequence[int]) -> dict[int, datetime]:
    """Return when the clock of each assignment was first started, if it was."""
    statement = (
        select(TimerEvent.assignment_id, func.min(TimerEvent.created_at))
        .where(TimerEvent.assignment_id.in_(assignment_ids), TimerEvent.kind == TimerKind.START)
        .group_by(TimerEvent.assignment_id)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def document_names(session: Session, query_id: int) -> dict[int, str]:
    """Return external ids of the query's candidates by id, in the study's order."""
    statement = (
        select(Document.id, Document.external_id)
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def documents_of_study(
    session: Session, study_id: int
) -> Generator[Row[str, str, str], None, None]:
    """Yield external id, title and address of the study's documents."""
    statement = (
        select(Document.external_id, Document.title, Document.url)
        .where(Document.study_id == study_id)
        .order_by(Document.id)
    )
    with session.execute(statement.execution_options(yield_per=_BATCH)) as rows:
        yield from rows


def features_of_query(session: Session, query_id: int) -> dict[str, dict[str, float]]:
    """Return features of the query's candidates by external id, in the study's order."""
    statement = (
        select(Document.external_id, Candidate.features)
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return {name: features or {} for name, features in session.execute(statement)}


def has_features(session: Session, study_id: int) -> bool:
    """Whether any candidate of the study has features."""
    with closing(features_of_study(session, study_id)) as found:
        return any(found)


def features_of_study(session: Session, study_id: int) -> Generator[dict[str, float], None, None]:
    """Yield the features of every candidate that has any."""
    statement = (
        select(Candidate.features)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id, Candidate.features.is_not(None))
    )
    with session.scalars(statement.execution_options(yield_per=_BATCH)) as rows:
        yield from (features for features in rows if features is not None)


def text_lengths(session: Session, study_id: int, names: Collection[str]) -> dict[str, int]:
    """Return the characters of the plain texts of documents by external id."""
    statement = (
        select(Document.external_id, func.coalesce(func.length(Content.text), 0))
        .join(Content, Content.hash == Document.content_hash)
        .where(Document.study_id == study_id)
    )
    found: dict[str, int] = {}
    wanted = sorted(names)
    for start in range(0, len(wanted), _BATCH):
        some = Document.external_id.in_(wanted[start : start + _BATCH])
        found |= {row[0]: row[1] for row in session.execute(statement.where(some))}
    return found


def texts_of_documents(session: Session, document_ids: Sequence[int]) -> dict[int, str]:
    """Return the plain texts of documents by id."""
    statement = (
        select(Document.id, Content.text)
        .join(Content, Content.hash == Document.content_hash)
        .where(Document.id.in_(document_ids))
    )
    return {number: text or "" for number, text in session.execute(statement)}


def work_counts(
    session: Session, study_id: int, user_id: int | None
) -> Sequence[Row[Tool, int, int, int, int]]:
    """Return per tool the work assigned, begun, finished and withdrawn."""
    active = Assignment.withdrawn_at.is_(None)
    statement = (
        select(
            Assignment.tool,
            _number(active),
            _number(
                active, Assignment.last_entry_at.is_not(None) | Assignment.finished_at.is_not(None)
            ),
            _number(active, Assignment.finished_at.is_not(None)),
            _number(Assignment.withdrawn_at.is_not(None)),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
        .group_by(Assignment.tool)
        .order_by(Assignment.tool)
    )
    statement = statement.where(by_people() if user_id is None else Assignment.user_id == user_id)
    return session.execute(statement).all()


def answered_work(session: Session, study_id: int) -> Sequence[Row[Any]]:
    """Return all work with an answer in effect, without its logs.

    A row has tool, round, answered, user_id, query_id, known_answers, known_right, withdrawn,
    finished, and of pairs the sorter and whether ties are allowed.
    """
    statement = (
        select(
            Assignment.tool,
            Assignment.round,
            Assignment.answered,
            Assignment.user_id,
            Assignment.query_id,
            Assignment.known_answers,
            Assignment.known_right,
            Assignment.withdrawn_at.is_not(None).label("withdrawn"),
            Assignment.finished_at.is_not(None).label("finished"),
            Assignment.plan["sorter"].as_string().label("sorter"),
            Assignment.plan["allow_ties"].as_boolean().label("ties"),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id, Assignment.answered > 0, by_people())
    )
    return session.execute(statement).all()


def _number(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(Assignment.id).filter(*conditions)


def pages_of_query(session: Session, query_id: int) -> Sequence[Row[str, str, str | None]]:
    """Return external id, title and plain text of the query's candidates, in the study's order."""
    statement = (
        select(Document.external_id, Document.title, Content.text)
        .join(Candidate, Candidate.document_id == Document.id)
        .join(Content, Content.hash == Document.content_hash)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return session.execute(statement).all()

"""Data for exports, read in batches, so that memory does not grow with the study.

An iterator that is closed early closes its cursor.
"""

from collections.abc import Collection, Generator, Sequence

from sqlalchemy import ColumnElement, Row, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    Candidate,
    Content,
    Document,
    Query,
)
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.enums import Tool

_BATCH = 200


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


def people_at_work(session: Session, study_id: int, *, machines: bool = False) -> Sequence[int]:
    """Return ids of everyone who has work that is not withdrawn; with ``machines``, those too."""
    statement = (
        select(Assignment.user_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
        .distinct()
    )
    return session.scalars(statement if machines else statement.where(by_people())).all()


def document_names(session: Session, query_id: int) -> dict[int, str]:
    """Return external ids of the query's candidates by id, in the study's order."""
    statement = (
        select(Document.id, Document.external_id)
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def names_of_documents(session: Session, document_ids: Collection[int]) -> dict[int, str]:
    """Return external ids of documents by id."""
    statement = select(Document.id, Document.external_id).where(Document.id.in_(document_ids))
    return {row[0]: row[1] for row in session.execute(statement)}


def features_of_query(session: Session, query_id: int) -> dict[str, dict[str, float]]:
    """Return features of the query's candidates by external id, in the study's order."""
    statement = (
        select(Document.external_id, Candidate.features)
        .join(Candidate, Candidate.document_id == Document.id)
        .where(Candidate.query_id == query_id)
        .order_by(Candidate.position, Candidate.id)
    )
    return {name: features or {} for name, features in session.execute(statement)}


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


def _number(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(Assignment.id).filter(*conditions)

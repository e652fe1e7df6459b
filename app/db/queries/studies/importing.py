"""Data for imports: the content of an existing study."""

from typing import cast

from sqlalchemy import Executable, Table, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    Content,
    Document,
    PracticeItem,
    Query,
)

_IMPORT_LOCK = 7_461_830_552  # key of the advisory lock that serializes imports on PostgreSQL
Positioned = type[Query] | type[PracticeItem]


def assigned_queries(session: Session, study_id: int) -> frozenset[str]:
    """Return queries that somebody is assigned to, begun or not."""
    statement = (
        select(Query.external_id)
        .join(Assignment, Assignment.query_id == Query.id)
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
    )
    return frozenset(session.scalars(statement))


def query_numbers(session: Session, study_id: int) -> dict[str, int]:
    """Return ids of the queries by external id."""
    statement = select(Query.external_id, Query.id).where(Query.study_id == study_id)
    return {row[0]: row[1] for row in session.execute(statement)}


def document_numbers(session: Session, study_id: int) -> dict[str, int]:
    """Return ids of the documents by external id."""
    statement = select(Document.external_id, Document.id).where(Document.study_id == study_id)
    return {row[0]: row[1] for row in session.execute(statement)}


def lock_imports(session: Session) -> None:
    """Serialize imports on PostgreSQL: two that insert the same contents could deadlock."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _IMPORT_LOCK})


def new_contents(session: Session) -> Executable:
    """Return an insert that skips existing contents, in the dialect of the database."""
    table = cast(Table, Content.__table__)
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()

"""What judging reads: an assignment with its study, its log from a position on, pages by number."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row, bindparam, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, defer, joinedload
from sqlalchemy.orm.attributes import set_committed_value

from app.db.base import Base
from app.db.models import Assignment, Content, Document, JudgmentRow, Query

# Built once: these run with every answer, and building a statement costs as much as running it.
# The plan is left out: it can be long, never changes, and is kept with the live session.
_ASSIGNMENT = (
    select(Assignment)
    .options(defer(Assignment.plan))
    .where(Assignment.id == bindparam("assignment_id"), Assignment.user_id == bindparam("user_id"))
)
_LOCKED = _ASSIGNMENT.with_for_update()
_LOG = (
    select(JudgmentRow)
    .where(
        JudgmentRow.assignment_id == bindparam("assignment_id"),
        JudgmentRow.position >= bindparam("position"),
    )
    .order_by(JudgmentRow.position)
)
_JUDGMENTS = Base.metadata.tables[JudgmentRow.__tablename__]
_ASSIGNMENTS = Base.metadata.tables[Assignment.__tablename__]
_EMPTY_ENTRY = {column.name: None for column in _JUDGMENTS.columns if column.name != "id"}
_SUMMARY = (
    *("offered", "answered", "expected_left", "active_ms", "last_entry_at"),
    *("checks", "checks_agreed", "finished_at"),
)
# Plain statements: a unit of work would cost more than all else that an answer does.
_APPEND = {
    dialect: insert(_JUDGMENTS)
    .values({name: bindparam(name) for name in _EMPTY_ENTRY})
    .on_conflict_do_nothing(index_elements=["assignment_id", "position"])
    .returning(_JUDGMENTS.c.id)
    for dialect, insert in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_SUM_UP = (
    update(_ASSIGNMENTS)
    .where(_ASSIGNMENTS.c.id == bindparam("assignment_id"))
    .values({name: bindparam(f"new_{name}") for name in _SUMMARY})
)
# A pair has two pages; a list of any length has to be spelled out anew each time it is asked for.
_TEXTS_OF_TWO = select(Content.hash, Content.text).where(
    Content.hash.in_([bindparam("first"), bindparam("last")])
)
_TEXTS = select(Content.hash, Content.text).where(
    Content.hash.in_(bindparam("hashes", expanding=True))
)


def assignment_of(session: Session, assignment_id: int, user_id: int) -> Assignment | None:
    """The person's assignment, to look at."""
    return session.scalar(_ASSIGNMENT, {"assignment_id": assignment_id, "user_id": user_id})


def assignment_for_update(session: Session, assignment_id: int, user_id: int) -> Assignment | None:
    """The person's assignment, locked until the transaction ends."""
    return session.scalar(_LOCKED, {"assignment_id": assignment_id, "user_id": user_id})


def append_entry(
    session: Session, assignment: Assignment, entry: Mapping[str, Any], summary: Mapping[str, Any]
) -> bool:
    """Add ``entry`` to the log, and keep what sums the log up with the assignment.

    False, with nothing written and the transaction unharmed, where the log has that position.
    """
    connection = session.connection()
    row = {**_EMPTY_ENTRY, "assignment_id": assignment.id, **entry}
    if connection.scalar(_APPEND[connection.dialect.name], row) is None:
        return False
    changes = {f"new_{name}": value for name, value in summary.items()}
    connection.execute(_SUM_UP, {"assignment_id": assignment.id, **changes})
    for name, value in summary.items():
        set_committed_value(assignment, name, value)
    return True


def query_with_study(session: Session, query_id: int) -> Query:
    """The query and, with it, its study."""
    statement = select(Query).where(Query.id == query_id).options(joinedload(Query.study))
    return session.scalars(statement).one()


def log_from(session: Session, assignment_id: int, position: int) -> Sequence[JudgmentRow]:
    """The entries of the log from ``position`` on."""
    found = session.scalars(_LOG, {"assignment_id": assignment_id, "position": position})
    return found.all()


def entry_at(session: Session, assignment_id: int, position: int) -> JudgmentRow | None:
    """The entry at ``position``, if the log is that long."""
    statement = select(JudgmentRow).where(
        JudgmentRow.assignment_id == assignment_id, JudgmentRow.position == position
    )
    return session.scalar(statement)


HeadRow = Row[int, str, str, str, str, str, str]


def document_heads(session: Session, document_ids: Sequence[int]) -> Sequence[HeadRow]:
    """Number, name, title, address, content hash, kind of content and path of the documents."""
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
    """The plain text of contents."""
    if 1 <= len(hashes) <= 2:
        found = session.execute(_TEXTS_OF_TWO, {"first": hashes[0], "last": hashes[-1]})
    else:
        found = session.execute(_TEXTS, {"hashes": list(hashes)})
    return {digest: text or "" for digest, text in found}

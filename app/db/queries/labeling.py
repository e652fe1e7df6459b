"""What judging reads: an assignment with its study, its log from a position on, pages by number."""

from collections.abc import Sequence

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session, joinedload

from app.db.models import Assignment, Content, Document, JudgmentRow, Query

# Built once: these run with every answer, and building a statement costs as much as running it.
_ASSIGNMENT = select(Assignment).where(
    Assignment.id == bindparam("assignment_id"), Assignment.user_id == bindparam("user_id")
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
_TEXTS = select(Content.hash, Content.text).where(
    Content.hash.in_(bindparam("hashes", expanding=True))
)


def assignment_of(session: Session, assignment_id: int, user_id: int) -> Assignment | None:
    """The person's assignment, to look at."""
    return session.scalar(_ASSIGNMENT, {"assignment_id": assignment_id, "user_id": user_id})


def assignment_for_update(session: Session, assignment_id: int, user_id: int) -> Assignment | None:
    """The person's assignment, locked until the transaction ends."""
    return session.scalar(_LOCKED, {"assignment_id": assignment_id, "user_id": user_id})


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
    found = session.execute(_TEXTS, {"hashes": list(hashes)})
    return {digest: text or "" for digest, text in found}

"""Select statements for pages under judgment and their files.

Those of a page are built once: building one costs as much as running it.
"""

from sqlalchemy import Row, bindparam, select
from sqlalchemy.orm import Session, undefer

from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import Content, Document, StudyFile

_HEAD = (
    select(Content.hash, Content.media_type, Document.path, Document.title)
    .join(Document.content)
    .where(Document.id == bindparam("document_id"), Document.study_id == bindparam("study_id"))
)
_DATA = select(Content.data).where(Content.hash == bindparam("content_hash"))
_TEXT = select(Content.text).where(Content.hash == bindparam("content_hash"))


def document_head(
    session: Session, study_id: int, document_id: int
) -> Row[str, str, str, str] | None:
    """Return content hash, media type, path and title of a page of the study."""
    which = {"document_id": document_id, "study_id": study_id}
    return connection_of(session).execute(_HEAD, which).one_or_none()


def data_of(session: Session, content_hash: str) -> bytes | None:
    """Return the bytes of a content."""
    return connection_of(session).scalar(_DATA, {"content_hash": content_hash})


def text_of(session: Session, content_hash: str) -> str:
    """Return the plain text of a content; empty if it has none."""
    return connection_of(session).scalar(_TEXT, {"content_hash": content_hash}) or ""


def content_of_file(session: Session, study_id: int, path: str) -> Content | None:
    """Return the content of a file of the study."""
    statement = (
        select(Content)
        .join(StudyFile, StudyFile.content_hash == Content.hash)
        .options(undefer(Content.data))
        .where(StudyFile.study_id == study_id, StudyFile.path == path)
    )
    return session.scalar(statement)

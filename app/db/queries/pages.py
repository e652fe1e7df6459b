"""Select statements of pages under judgment and their files."""

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager, undefer

from app.db.models import Content, Document, StudyFile


def document_with_content(session: Session, study_id: int, document_id: int) -> Document | None:
    """A page of the study with its bytes."""
    statement = (
        select(Document)
        .join(Document.content)
        .options(contains_eager(Document.content).options(undefer(Content.data)))
        .where(Document.id == document_id, Document.study_id == study_id)
    )
    return session.scalar(statement)


def content_of_file(session: Session, study_id: int, path: str) -> Content | None:
    """What a file of the study holds."""
    statement = (
        select(Content)
        .join(StudyFile, StudyFile.content_hash == Content.hash)
        .options(undefer(Content.data))
        .where(StudyFile.study_id == study_id, StudyFile.path == path)
    )
    return session.scalar(statement)

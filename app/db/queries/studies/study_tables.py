"""Everything that belongs to a study, found by following foreign keys through all tables.

A table belongs to studies if one of its required keys leads, through other such tables, to
``studies``. Contents are shared between studies by their hash and belong to none.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, ForeignKeyConstraint, Table, delete, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Base
from topkapi.app.db.models import Content, Document, Study, StudyFile
from topkapi.app.db.models.study import UNFINISHED
from topkapi.app.db.search import unindex_documents

_HASHES = 500  # per statement, because databases limit the number of parameters


def tables_of_study() -> Sequence[Table]:
    """Return the tables with rows of studies, referenced tables first."""
    return [table for table in Base.metadata.sorted_tables if table.name in _owning_keys()]


def rows_of_study(table: Table, study_id: int) -> ColumnElement[bool]:
    """Return the condition for the rows of ``table`` that belong to the study."""
    if table.name == Study.__tablename__:
        return table.c.id == study_id
    key = _owning_keys()[table.name]
    assert key is not None
    parent = key.referred_table
    above = select(next(iter(key.elements)).column).where(rows_of_study(parent, study_id))
    return next(iter(key.columns)).in_(above)


def count_rows(session: Session, study_id: int) -> dict[str, int]:
    """Return the number of the study's rows per table."""
    return {
        table.name: session.scalar(
            select(func.count()).select_from(table).where(rows_of_study(table, study_id))
        )
        or 0
        for table in tables_of_study()
    }


def hashes_of_study(session: Session, study_id: int) -> list[str]:
    """Return hashes of the contents that the study's pages and files refer to."""
    pages = select(Document.content_hash).where(Document.study_id == study_id)
    files = select(StudyFile.content_hash).where(StudyFile.study_id == study_id)
    return sorted(set(session.scalars(pages)) | set(session.scalars(files)))


def delete_rows(session: Session, study_id: int) -> None:
    """Delete every row of the study, and what the search index has of it."""
    unindex_documents(session, study_id)
    for table in reversed(tables_of_study()):
        session.execute(delete(table).where(rows_of_study(table, study_id)))


def drop_unfinished(session: Session, slug: str = f"{UNFINISHED}%") -> None:
    """Delete the studies whose import was not finished, all or the one with ``slug``."""
    for number in session.scalars(select(Study.id).where(Study.slug.like(slug))).all():
        delete_rows(session, number)


def drop_unused(session: Session, hashes: Sequence[str] | None = None) -> int:
    """Delete contents, of these or of all, that no page and no file refers to; return how many."""
    if hashes is None:
        hashes = session.scalars(select(Content.hash).where(_unused())).all()
    count = 0
    for start in range(0, len(hashes), _HASHES):
        condition = Content.hash.in_(hashes[start : start + _HASHES]) & _unused()
        count += session.scalar(select(func.count(Content.hash)).where(condition)) or 0
        session.execute(
            delete(Content).where(condition).execution_options(synchronize_session=False)
        )
    return count


def _unused() -> ColumnElement[bool]:
    return (
        ~select(Document.id).where(Document.content_hash == Content.hash).exists()
        & ~select(StudyFile.id).where(StudyFile.content_hash == Content.hash).exists()
    )


def _owning_keys() -> Mapping[str, ForeignKeyConstraint | None]:
    """Return, per table that belongs to studies, the key that leads there."""
    keys: dict[str, ForeignKeyConstraint | None] = {Study.__tablename__: None}
    for table in Base.metadata.sorted_tables:
        for key in table.foreign_key_constraints:
            required = not any(column.nullable for column in key.columns)
            if required and key.referred_table.name in keys and table.name not in keys:
                keys[table.name] = key
    return keys

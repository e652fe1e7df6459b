"""Studies with their sizes."""

from collections.abc import Sequence
from typing import TypeVarTuple

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Document, Query, Study, StudyAccess, User
from topkapi.app.db.models.study import UNFINISHED
from topkapi.app.db.queries.machines import by_people
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import NotFound

Columns = TypeVarTuple("Columns")


def studies_with_counts(
    session: Session,
    *,
    slug: str | None = None,
    reader_id: int | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> Sequence[Row[Study, int, int, int, int, int]]:
    """Return studies in creation order, with queries, documents, candidates, work and finished
    work.

    All of them, a page of them, or only the one with ``slug``; with ``reader_id`` only those that
    this researcher may read.
    """
    queries = select(func.count()).where(Query.study_id == Study.id).correlate(Study)
    documents = select(func.count()).where(Document.study_id == Study.id).correlate(Study)
    candidates = (
        select(func.count(Candidate.id))
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == Study.id)
        .correlate(Study)
    )
    work = (
        select(func.count(Assignment.id))
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == Study.id, Assignment.withdrawn_at.is_(None), by_people())
        .correlate(Study)
    )
    done = work.where(Assignment.finished_at.is_not(None))
    parts = [part.scalar_subquery() for part in (queries, documents, candidates, work, done)]
    statement = select(Study, *parts).where(is_finished()).order_by(Study.id)
    statement = statement.limit(limit).offset(offset)
    if slug is not None:
        statement = statement.where(Study.slug == slug)
    return session.execute(_readable(statement, reader_id)).all()


def count_studies(session: Session, reader_id: int | None = None) -> int:
    """Return the number of studies, or of those that the researcher may read."""
    statement = select(func.count(Study.id)).where(is_finished())
    return session.scalar(_readable(statement, reader_id)) or 0


def is_finished() -> ColumnElement[bool]:
    """Return the condition for studies whose import is not under way or was killed."""
    return ~Study.slug.startswith(UNFINISHED)


def study_of_slug(session: Session, slug: str, reader_id: int | None = None) -> Study | None:
    """Return the study with this slug, with ``reader_id`` only if this researcher may read it."""
    return session.scalar(_readable(select(Study).where(Study.slug == slug), reader_id))


def _readable(statement: Select[*Columns], reader_id: int | None) -> Select[*Columns]:
    if reader_id is None:
        return statement
    given = select(StudyAccess.study_id).where(StudyAccess.user_id == reader_id)
    return statement.where(Study.id.in_(given))


def researchers_of(session: Session, study_id: int, *, given: bool = True) -> Sequence[User]:
    """Return the researchers who may read the study, or may not, by name; no disabled ones."""
    may_read = User.id.in_(select(StudyAccess.user_id).where(StudyAccess.study_id == study_id))
    researchers = select(User).where(User.role == Role.RESEARCHER, User.disabled_at.is_(None))
    chosen = researchers.where(may_read if given else ~may_read)
    return session.scalars(chosen.order_by(User.name, User.id)).all()


def hold_settings(session: Session, study: Study, *, to_change: bool = False) -> None:
    """Reload the study and lock its row (``FOR UPDATE``, or ``FOR SHARE`` unless ``to_change``).

    On SQLite write transactions are serial anyway.
    """
    session.flush()
    session.refresh(study, with_for_update={"read": not to_change})


def required_study(session: Session, slug: str, reader_id: int | None = None) -> Study:
    """Return the study with this slug, or raise `NotFound`.

    With ``reader_id``, a study that this researcher may not read is not found either.
    """
    study = study_of_slug(session, slug, reader_id)
    if study is None:
        raise NotFound(f"There is no study {slug!r}.")
    return study

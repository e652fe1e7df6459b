"""Studies with their sizes."""

from collections.abc import Sequence

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Document, Query, Study


def studies_with_counts(
    session: Session, *, slug: str | None = None, limit: int | None = None, offset: int = 0
) -> Sequence[Row[Study, int, int, int, int, int]]:
    """Return studies in creation order, with queries, documents, candidates, work and finished
    work.

    All of them, a page of them, or only the one with ``slug``.
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
        .where(Query.study_id == Study.id, Assignment.withdrawn_at.is_(None))
        .correlate(Study)
    )
    done = work.where(Assignment.finished_at.is_not(None))
    parts = [part.scalar_subquery() for part in (queries, documents, candidates, work, done)]
    statement = select(Study, *parts).order_by(Study.id).limit(limit).offset(offset)
    if slug is not None:
        statement = statement.where(Study.slug == slug)
    return session.execute(statement).all()


def count_studies(session: Session) -> int:
    """Return the number of studies."""
    return session.scalar(select(func.count(Study.id))) or 0


def study_of_slug(session: Session, slug: str) -> Study | None:
    """Return the study with this slug."""
    return session.scalar(select(Study).where(Study.slug == slug))


def hold_settings(session: Session, study: Study, *, to_change: bool = False) -> None:
    """Reload the study and lock its row (``FOR UPDATE``, or ``FOR SHARE`` unless ``to_change``).

    On SQLite write transactions are serial anyway.
    """
    session.flush()
    session.refresh(study, with_for_update={"read": not to_change})

"""Results of finished jobs that pages show elsewhere; loads no numerical library.

Pages show the latest result with its time; a newer one is computed in the background, once for
everybody (`jobs.refreshing`). So no page waits for a computation.
"""

from datetime import datetime

from sqlalchemy import JSON, ColumnElement, cast, select, type_coerce
from sqlalchemy.orm import Session

from topkapi.app.db.models import Job
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.notes import StoredResult

_PARTS = {"confidence": "lists"}  # what is read of a result, if not the part named as its kind


def stored_result(
    session: Session, study_id: int, kind: str, part: str | None = None
) -> StoredResult | None:
    """Return what the latest job of the study computed: a part of its result, read alone."""
    name = part or _PARTS.get(kind, kind)
    statement = (
        select(Job.id, Job.finished_at, _part(session, "digest"), _part(session, name))
        .where(Job.study_id == study_id, Job.kind == kind, Job.result.is_not(None))
        .order_by(Job.id.desc())
        .limit(1)
    )
    found = session.execute(statement).one_or_none()
    if found is None or found[1] is None or found[3] is None:
        return None
    return StoredResult(found[0], found[1], str(found[2]), found[3])


def _part(session: Session, name: str) -> ColumnElement[object]:
    """Return a part of a result, parsed by the database."""
    is_sqlite = session.get_bind().dialect.name == "sqlite"  # whose JSON functions read text
    return (type_coerce if is_sqlite else cast)(Job.result, JSON)[name]


def is_current(session: Session, slug: str, stored: StoredResult) -> bool:
    """Return whether nothing of the study has changed since."""
    return stored.digest == state_digest(StudySource(session, slug))


def current_result(session: Session, slug: str, kind: str) -> StoredResult | None:
    """Return a stored result that is not outdated."""
    stored = stored_result(session, StudySource(session, slug).study.id, kind)
    return stored if stored is not None and is_current(session, slug, stored) else None


def outdated_at(session: Session, slug: str, stored: StoredResult | None) -> datetime | None:
    """Return when something was stored if the study has changed since."""
    return stored.at if stored and not is_current(session, slug, stored) else None

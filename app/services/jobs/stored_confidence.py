"""Confidence that a job has computed, for reports; loads no numerical library."""

import json

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.stored import StoredConfidence


def stored_confidence(session: Session, study_id: int) -> StoredConfidence | None:
    """Return what the latest job of the study has computed."""
    statement = (
        select(Job.id, Job.finished_at, Job.result)
        .where(Job.study_id == study_id, Job.kind == "confidence", Job.state == JobState.DONE)
        .order_by(Job.id.desc())
        .limit(1)
    )
    found = session.execute(statement).one_or_none()
    if found is None or found.result is None or found.finished_at is None:
        return None
    result = json.loads(found.result)
    return StoredConfidence(found.id, found.finished_at, result["digest"], result["lists"])


def is_current(session: Session, slug: str, stored: StoredConfidence) -> bool:
    """Return whether nothing of the study has changed since."""
    return stored.digest == state_digest(StudySource(session, slug))


def current_confidence(session: Session, slug: str) -> StoredConfidence | None:
    """Return stored confidence that is not outdated."""
    source = StudySource(session, slug)
    stored = stored_confidence(session, source.study.id)
    return stored if stored is not None and stored.digest == state_digest(source) else None

"""Results of finished jobs that pages show elsewhere; loads no numerical library."""

import json
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.base import Json
from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState
from topkapi.app.services.results.exports import StudySource
from topkapi.app.services.results.reports.cache import state_digest
from topkapi.app.services.results.reports.stored import StoredConfidence, StoredReport


class _Latest(NamedTuple):
    job_id: int
    at: datetime
    result: Json


def stored_confidence(session: Session, study_id: int) -> StoredConfidence | None:
    """Return the confidence that the latest job of the study has computed."""
    found = _latest(session, study_id, "confidence")
    if found is None:
        return None
    return StoredConfidence(found.job_id, found.at, found.result["digest"], found.result["lists"])


def stored_report(session: Session, study_id: int) -> StoredReport | None:
    """Return the report that the latest job of the study has computed."""
    found = _latest(session, study_id, "report")
    if found is None:
        return None
    return StoredReport(found.job_id, found.at, found.result["digest"], found.result["report"])


def is_current(session: Session, slug: str, stored: StoredConfidence | StoredReport) -> bool:
    """Return whether nothing of the study has changed since."""
    return stored.digest == state_digest(StudySource(session, slug))


def current_confidence(session: Session, slug: str) -> StoredConfidence | None:
    """Return stored confidence that is not outdated."""
    stored = stored_confidence(session, StudySource(session, slug).study.id)
    return stored if stored is not None and is_current(session, slug, stored) else None


def current_report(session: Session, slug: str) -> StoredReport | None:
    """Return a stored report that is not outdated."""
    stored = stored_report(session, StudySource(session, slug).study.id)
    return stored if stored is not None and is_current(session, slug, stored) else None


def active_job(session: Session, study_id: int, kind: str) -> Job | None:
    """Return the latest job of a kind that waits or runs."""
    ended = [state for state in JobState if state.final]
    statement = select(Job).where(
        Job.study_id == study_id, Job.kind == kind, Job.state.not_in(ended)
    )
    return session.scalar(statement.order_by(Job.id.desc()).limit(1))


def _latest(session: Session, study_id: int, kind: str) -> _Latest | None:
    statement = (
        select(Job.id, Job.finished_at, Job.result)
        .where(Job.study_id == study_id, Job.kind == kind, Job.result.is_not(None))
        .order_by(Job.id.desc())
        .limit(1)
    )
    found = session.execute(statement).one_or_none()
    if found is None or found.finished_at is None:
        return None
    return _Latest(found.id, found.finished_at, json.loads(found.result))

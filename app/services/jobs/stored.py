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
from topkapi.app.services.results.reports.notes import StoredConfidence, StoredResult


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


def stored_result(session: Session, study_id: int, kind: str) -> StoredResult | None:
    """Return the report or the labels, by ``kind``, that the latest job of the study computed."""
    found = _latest(session, study_id, kind)
    if found is None:
        return None
    return StoredResult(found.job_id, found.at, found.result["digest"], found.result[kind])


def is_current(session: Session, slug: str, stored: StoredConfidence | StoredResult) -> bool:
    """Return whether nothing of the study has changed since."""
    return stored.digest == state_digest(StudySource(session, slug))


def current_confidence(session: Session, slug: str) -> StoredConfidence | None:
    """Return stored confidence that is not outdated."""
    stored = stored_confidence(session, StudySource(session, slug).study.id)
    return stored if stored is not None and is_current(session, slug, stored) else None


def current_result(session: Session, slug: str, kind: str) -> StoredResult | None:
    """Return a stored report or stored labels that are not outdated."""
    stored = stored_result(session, StudySource(session, slug).study.id, kind)
    return stored if stored is not None and is_current(session, slug, stored) else None


def outdated_at(
    session: Session, slug: str, stored: StoredConfidence | StoredResult | None
) -> datetime | None:
    """Return when something was stored if the study has changed since."""
    return stored.at if stored and not is_current(session, slug, stored) else None


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

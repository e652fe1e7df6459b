"""Results that are computed in the background: is one computed, is it time for the next?"""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Job, Study
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.records import ShownJob, shown_job
from topkapi.app.services.results.stored import current_result

REST = 10  # times as long as the latest computation took, before the next starts by itself
LEAST_REST = timedelta(seconds=5)


def active_job(session: Session, study_id: int, kind: str) -> ShownJob | None:
    """Return the latest job of a kind that waits or runs."""
    latest = _latest_job(session, study_id, kind)
    return None if latest is None or latest.state.final else shown_job(latest)


def is_due(session: Session, study_id: int, kind: str, at: datetime | None = None) -> bool:
    """Return whether an outdated result may be computed by itself again.

    So a study that changes with every answer keeps a worker busy for a tenth of the time. What
    somebody has stopped does not start by itself.
    """
    latest = _latest_job(session, study_id, kind)
    if latest is None or latest.started_at is None or latest.finished_at is None:
        return latest is None
    took = latest.finished_at - latest.started_at
    rested = (at or now()) - latest.finished_at > max(REST * took, LEAST_REST)
    return rested and latest.state is not JobState.STOPPED


def refresh(session: Session, study: Study, kind: str) -> None:
    """Queue a computation that nobody asked for, if the stored result is outdated."""
    if is_due(session, study.id, kind) and current_result(session, study.slug, kind) is None:
        store.queue_job(session, study, kind, {}, by_itself=True)


def _latest_job(session: Session, study_id: int, kind: str) -> Job | None:
    statement = select(Job).where(Job.study_id == study_id, Job.kind == kind)
    return session.scalar(statement.order_by(Job.id.desc()).limit(1))

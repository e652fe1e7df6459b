"""The queue of jobs: a job is taken by one worker at a time, which holds a lease on it.

Each function is one step in the caller's transaction. PostgreSQL skips rows that another worker has
locked (`SKIP LOCKED`); on SQLite a write transaction begins with `BEGIN IMMEDIATE`, so two workers
never choose at the same time. A worker that lost its lease can change nothing any more: its
statements name the worker and the attempt. Leases are measured by the database's clock, on which
workers of several hosts agree; on SQLite that is the clock of the one host.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, and_, delete, or_, select, update
from sqlalchemy.orm import Session, undefer

from topkapi.app.db.base import Json, clock, now
from topkapi.app.db.models import Job, Study, User
from topkapi.app.db.notices import notify
from topkapi.app.db.queries.jobs import LONGEST_LEASE, is_held
from topkapi.app.domain.enums import JobState
from topkapi.app.domain.errors import NotFound
from topkapi.app.services import audit
from topkapi.app.services.jobs.records import JudgeJob, ShownJob, shown_job

CHANNEL = "topkapi_jobs"  # of notices that a job waits
LEASE = timedelta(seconds=30)
STALLED = timedelta(seconds=60)  # an idle worker takes a waiting job within seconds
MOST_ATTEMPTS = 3
SUPERSEDED = ("report", "confidence", "labels")  # kinds of which only the latest result is shown
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_LOST = (
    f"The worker process ended {MOST_ATTEMPTS} times while it computed this, perhaps because "
    "memory ran out. Choose less, or run it on a machine with more memory, and start it again."
)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one worker to run a job, in one attempt; ``study`` is the slug."""

    job_id: int
    worker: str
    attempt: int
    kind: str
    study: str
    parameters: Json


def queue_job(
    session: Session,
    study: Study,
    kind: str,
    parameters: Json,
    *,
    actor_id: int | None = None,
    by_itself: bool = False,
) -> Job:
    """Add a job to the queue; return the waiting or running one if it is the same.

    What starts ``by_itself`` is not recorded in the audit log.
    """
    locked = select(Study.id).where(Study.id == study.id).with_for_update(key_share=True)
    session.execute(locked)  # two requests at once queue one job
    for job in session.scalars(
        select(Job).where(Job.study_id == study.id, Job.kind == kind, ~_ended())
    ):
        if job.parameters == parameters and not job.stop_requested:
            return job
    job = Job(study_id=study.id, kind=kind, parameters=parameters, created_by=actor_id)
    session.add(job)
    session.flush()
    if not by_itself:
        audit.record(session, actor_id, "job.start", study.slug, job=job.id, kind=kind)
    notify(session, CHANNEL)
    return job


def required_job(session: Session, study: Study, job_id: int) -> Job:
    """Return a job of the study with its result; raise NotFound if it has no such job."""
    statement = select(Job).where(Job.id == job_id, Job.study_id == study.id)
    job = session.scalar(statement.options(undefer(Job.result)))
    if job is None:
        raise NotFound(f"The study {study.slug!r} has no job {job_id}.")
    return job


@dataclass(frozen=True, slots=True)
class QueueState:
    """How background jobs go, in the words and numbers that `/readyz` reports.

    Attributes
    ----------
    state
        ``idle``, ``working``, or ``stalled``: a job waits that no worker has taken in time.
    waiting, waiting_seconds
        Jobs that no worker has, those of a lost worker included, and since when the oldest waits.
    running, restarted
        Jobs that a worker has, and those of them that an earlier worker was lost with.
    """

    state: str
    waiting: int
    waiting_seconds: int
    running: int
    restarted: int


def queue_state(session: Session) -> QueueState:
    """Return how many jobs wait and run, and whether workers take them."""
    at = clock(session)
    rows = session.execute(
        select(Job.created_at, Job.started_at, Job.lease_until, Job.attempts).where(~_ended())
    ).all()
    held = [row for row in rows if is_held(row.lease_until, at)]
    since = [max(filter(None, row[:3])) for row in rows if row not in held]
    waited = int(max(((at - each).total_seconds() for each in since), default=0))
    stalled = waited > STALLED.total_seconds() and not held
    return QueueState(
        state="stalled" if stalled else "working" if rows else "idle",
        waiting=len(since),
        waiting_seconds=waited,
        running=len(held),
        restarted=sum(row.attempts > 1 for row in held),
    )


def has_work(session: Session) -> bool:
    """Return whether a job waits or has lost its worker."""
    return session.scalar(select(Job.id).where(_takeable(session)).limit(1)) is not None


def take_job(
    session: Session, worker: str, lease: timedelta = LEASE, *, job_id: int | None = None
) -> Lease | None:
    """Take the oldest job that waits or has lost its worker; None if there is none.

    With ``job_id`` only that one. A job that lost its worker too often fails, one that was to be
    stopped is stopped.
    """
    wanted = _takeable(session) if job_id is None else and_(_takeable(session), Job.id == job_id)
    statement = select(Job).where(wanted).order_by(Job.id).limit(1)
    while (job := session.scalar(statement.with_for_update(skip_locked=True))) is not None:
        if job.stop_requested:
            _end(job, JobState.STOPPED, "Stopped.")
        elif job.attempts >= MOST_ATTEMPTS:
            _end(job, JobState.FAILED, _LOST)
        else:
            return _taken(session, job, worker, lease)
        session.flush()
    return None


def _taken(session: Session, job: Job, worker: str, lease: timedelta) -> Lease:
    job.state, job.worker, job.attempts = JobState.RUNNING, worker, job.attempts + 1
    job.lease_until = clock(session) + lease
    job.started_at, job.progress, job.message = now(), 0.0, ""
    slug = session.scalars(select(Study.slug).where(Study.id == job.study_id)).one()
    return Lease(job.id, worker, job.attempts, job.kind, slug, job.parameters)


def extend_lease(session: Session, held: Lease, lease: timedelta = LEASE) -> bool:
    """Extend the lease; return whether to go on: it is still held, and nobody asked to stop."""
    if not _change(session, held, lease_until=clock(session) + lease):
        return False
    return not session.scalars(select(Job.stop_requested).where(Job.id == held.job_id)).one()


def expire_leases(session: Session, worker: str) -> None:
    """End the leases of a worker that no longer runs, so that its jobs are taken at once."""
    held = update(Job).where(Job.worker == worker, Job.state == JobState.RUNNING)
    session.execute(held.values(lease_until=_LONG_AGO))


def end_lost(session: Session, study: Study, kind: str, *, except_for: Json) -> None:
    """End the jobs of a kind whose process was killed; one with these parameters is continued."""
    lost = select(Job).where(Job.study_id == study.id, Job.kind == kind, _takeable(session))
    for job in session.scalars(lost.where(Job.state == JobState.RUNNING)):
        if job.parameters != except_for:
            _end(job, JobState.STOPPED, "Its process was killed; a later run took over its work.")


def note_progress(session: Session, held: Lease, progress: float, message: str) -> None:
    """Store how far the job is, from 0 to 1."""
    _change(session, held, progress=min(1.0, max(0.0, progress)), message=message)


def finish_job(session: Session, held: Lease, result: Any) -> bool:
    """Store the result as JSON; return False if the lease was lost.

    Of the kinds in `SUPERSEDED`, results of the study's earlier jobs are dropped, and those jobs
    deleted that started by themselves.
    """
    text = json.dumps(result, ensure_ascii=False, allow_nan=False)
    stored = _change(session, held, **_ending(JobState.DONE, ""), progress=1.0, result=text)
    if stored and held.kind in SUPERSEDED:
        of_study = select(Job.study_id).where(Job.id == held.job_id).scalar_subquery()
        older = (Job.study_id == of_study, Job.kind == held.kind, Job.id != held.job_id)
        own = delete(Job).where(*older, Job.created_by.is_(None), _ended())
        for drop in (own, update(Job).where(*older).values(result=None)):
            session.execute(drop.execution_options(synchronize_session=False))
    return stored


def fail_job(session: Session, held: Lease, reason: str) -> bool:
    """Store why the job failed."""
    return _change(session, held, **_ending(JobState.FAILED, reason))


def stop_taken(session: Session, held: Lease) -> bool:
    """Record that the worker stopped as requested."""
    return _change(session, held, **_ending(JobState.STOPPED, "Stopped."))


def release_job(session: Session, held: Lease) -> bool:
    """Return the job to the queue, as a worker does that is told to end; no attempt is counted."""
    notify(session, CHANNEL)
    return _change(
        session,
        held,
        state=JobState.QUEUED,
        worker=None,
        lease_until=None,
        attempts=Job.attempts - 1,
        message="Waiting again: its worker was ended.",
    )


def request_stop(session: Session, job: Job, slug: str, *, actor_id: int | None = None) -> None:
    """Stop a job: a waiting one ends at once, a running one at its next step."""
    locked = session.scalar(select(Job).where(Job.id == job.id).with_for_update())
    if locked is None or locked.state.final or locked.stop_requested:
        return
    locked.stop_requested = True
    if locked.state is JobState.QUEUED:
        _end(locked, JobState.STOPPED, "Stopped.")
    audit.record(session, actor_id, "job.stop", slug, job=locked.id, kind=locked.kind)


def _ended() -> ColumnElement[bool]:
    return Job.state.in_([state for state in JobState if state.final])


def _takeable(session: Session) -> ColumnElement[bool]:
    at = clock(session)
    lost = or_(Job.lease_until < at, Job.lease_until > at + LONGEST_LEASE)
    return or_(Job.state == JobState.QUEUED, and_(Job.state == JobState.RUNNING, lost))


def _end(job: Job, state: JobState, message: str) -> None:
    for name, value in _ending(state, message).items():
        setattr(job, name, value)


def _ending(state: JobState, message: str) -> dict[str, Any]:
    return {"state": state, "message": message, "finished_at": now(), "lease_until": None}


def _change(session: Session, held: Lease, **values: Any) -> bool:
    """Change the job if the worker still holds it in this attempt."""
    statement = (
        update(Job)
        .where(
            Job.id == held.job_id,
            Job.worker == held.worker,
            Job.attempts == held.attempt,
            Job.state == JobState.RUNNING,
        )
        .values(**values)
        .execution_options(synchronize_session=False)
    )
    found = session.execute(statement)
    assert isinstance(found, CursorResult)
    return found.rowcount == 1


def jobs_of_study(session: Session, study_id: int, *, limit: int) -> Sequence[ShownJob]:
    """Return the latest jobs without their results."""
    statement = (
        select(Job, User.name)
        .outerjoin(User, User.id == Job.created_by)
        .where(Job.study_id == study_id)
        .order_by(Job.id.desc())
        .limit(limit)
    )
    return [shown_job(job, name or "") for job, name in session.execute(statement)]


def runs_of_study(session: Session, study_id: int, limit: int) -> Sequence[JudgeJob]:
    """Return the latest runs of machines, with their results."""
    statement = select(Job).where(Job.study_id == study_id, Job.kind == "judge")
    latest = statement.order_by(Job.id.desc()).limit(limit)
    rows = session.scalars(latest.options(undefer(Job.result)))
    return [JudgeJob(shown_job(row), json.loads(row.result or "{}")) for row in rows]

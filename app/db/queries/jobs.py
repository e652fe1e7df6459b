"""Data of jobs: those of a study, and what a comparison of models can use."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session, undefer

from topkapi.app.db.models import Assignment, Candidate, Job, Query, User
from topkapi.app.domain.enums import Tool

LONGEST_LEASE = timedelta(hours=1)  # one that ends later is from a clock that was wrong
_SAMPLE = 200  # candidates whose features are looked at


def jobs_of_study(session: Session, study_id: int, *, limit: int) -> Sequence[tuple[Job, str]]:
    """Return the latest jobs without their results, each with the name of who started it."""
    statement = (
        select(Job, User.name)
        .outerjoin(User, User.id == Job.created_by)
        .where(Job.study_id == study_id)
        .order_by(Job.id.desc())
        .limit(limit)
    )
    return [(job, name or "") for job, name in session.execute(statement)]


def job_of_study(session: Session, study_id: int, job_id: int) -> Job | None:
    """Return a job of the study with its result."""
    statement = select(Job).where(Job.id == job_id, Job.study_id == study_id)
    return session.scalar(statement.options(undefer(Job.result)))


def labelled_queries(session: Session, study_id: int) -> Mapping[Tool, int]:
    """Return per tool the number of queries that somebody has finished."""
    statement = (
        select(Assignment.tool, func.count(Query.id.distinct()))
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.finished_at.is_not(None),
            Assignment.withdrawn_at.is_(None),
        )
        .group_by(Assignment.tool)
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def feature_names(session: Session, study_id: int) -> set[str]:
    """Return the names of features in a sample of the study's candidates."""
    statement = (
        select(Candidate.features)
        .join(Query, Query.id == Candidate.query_id)
        .where(Query.study_id == study_id, Candidate.features.is_not(None))
        .limit(_SAMPLE)
    )
    return {name for features in session.scalars(statement) for name in features or {}}


def is_held(lease_until: datetime | None, at: datetime) -> bool:
    """Return whether the lease of a job holds at a moment of the database's clock."""
    return lease_until is not None and at <= lease_until <= at + LONGEST_LEASE

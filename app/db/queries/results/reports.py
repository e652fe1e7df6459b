"""What tells whether the report of a study is still true."""

from collections.abc import Hashable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Query


def work_state(session: Session, study_id: int) -> Hashable:
    """The assignments and their logs, summed up: it changes with every entry of a log."""
    statement = (
        select(
            func.count(Assignment.id),
            func.max(Assignment.id),
            func.count(Assignment.withdrawn_at),
            func.count(Assignment.finished_at),
            func.sum(Assignment.answered),
            func.sum(Assignment.active_ms),
            func.max(Assignment.last_entry_at),
        )
        .join(Query, Query.id == Assignment.query_id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())


def holdings(session: Session, study_id: int) -> Hashable:
    """How many queries and candidates there are: an import may add to a study."""
    statement = (
        select(func.count(Query.id.distinct()), func.count(Candidate.id), func.max(Candidate.id))
        .outerjoin(Candidate, Candidate.query_id == Query.id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())

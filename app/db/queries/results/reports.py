"""Cache keys that tell whether the report of a study is still current."""

from collections.abc import Hashable

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, Candidate, Query


def work_state(session: Session, study_id: int) -> Hashable:
    """Return a summary of assignments and logs that changes with every log entry."""
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


def answers(session: Session, study_id: int) -> int:
    """Return the number of answers to a study's questions."""
    statement = select(func.sum(Assignment.answered)).join(Query, Query.id == Assignment.query_id)
    return session.scalar(statement.where(Query.study_id == study_id)) or 0


def holdings(session: Session, study_id: int) -> Hashable:
    """Return counts of queries and candidates, to which an import may add."""
    statement = (
        select(func.count(Query.id.distinct()), func.count(Candidate.id), func.max(Candidate.id))
        .outerjoin(Candidate, Candidate.query_id == Query.id)
        .where(Query.study_id == study_id)
    )
    return tuple(session.execute(statement).one())

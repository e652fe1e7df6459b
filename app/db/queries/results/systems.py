"""Runs of systems, and the systems of a study's lists."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Query, Ranking, SystemRun


def runs_of_study(session: Session, study_id: int) -> Sequence[SystemRun]:
    """Return the runs of a study by name, without their lines."""
    statement = select(SystemRun).where(SystemRun.study_id == study_id)
    return session.scalars(statement.order_by(SystemRun.system)).all()


def run_data(session: Session, run_id: int) -> bytes:
    """Return the compressed lines of a run."""
    return session.scalars(select(SystemRun.data).where(SystemRun.id == run_id)).one()


def has_systems(session: Session, study_id: int) -> bool:
    """Return whether there is anything to score: an uploaded run, or a list of the study."""
    run = select(SystemRun.id).where(SystemRun.study_id == study_id)
    ranking = select(Ranking.id).join(Query).where(Query.study_id == study_id)
    return any(session.scalar(each.limit(1)) is not None for each in (run, ranking))

"""Figures of the whole database, for a monitor."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import clock
from topkapi.app.db.models import Assignment, Job, JudgmentRow
from topkapi.app.domain.enums import JobState


@dataclass(frozen=True, slots=True)
class AssignmentFigures:
    """Totals over all studies; ``states`` counts the assignments of each state."""

    answers: int
    entries: int
    active: int
    states: Mapping[str, int]


def assignment_figures(session: Session, *, active_since: datetime) -> AssignmentFigures:
    """Return the totals; an assessor is active with an entry after ``active_since``."""
    state = case(
        (Assignment.withdrawn_at.is_not(None), "withdrawn"),
        (Assignment.finished_at.is_not(None), "finished"),
        (Assignment.last_entry_at.is_not(None), "in_progress"),
        else_="waiting",
    )
    rows = session.execute(
        select(state, func.count(), func.sum(Assignment.answered)).group_by(state)
    ).all()
    active = select(func.count(Assignment.user_id.distinct())).where(
        Assignment.last_entry_at > active_since
    )
    counts = dict.fromkeys(("waiting", "in_progress", "finished", "withdrawn"), 0)
    return AssignmentFigures(
        answers=sum(row[2] for row in rows),
        # Ids are never reused, and to count the rows would read them all.
        entries=session.scalar(select(func.max(JudgmentRow.id))) or 0,
        active=session.scalar(active) or 0,
        states=counts | {row[0]: row[1] for row in rows},
    )


def earliest_lease(session: Session) -> float | None:
    """Return the seconds until the first lease of a running job expires; None if none runs."""
    running = Job.state == JobState.RUNNING
    until = session.scalar(select(func.min(Job.lease_until)).where(running))
    return None if until is None else (until - clock(session)).total_seconds()

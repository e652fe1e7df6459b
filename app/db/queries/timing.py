"""What is read of the clocks of sessions."""

from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from app.db.models import Assignment, TimerEvent
from app.domain.words import TimerKind


def last_start(session: Session, assignment: Assignment) -> TimerEvent | None:
    """The latest start of a clock since the last entry of the log."""
    statement = select(TimerEvent).where(
        _since_entry(assignment), TimerEvent.kind == TimerKind.START
    )
    return session.scalar(statement.order_by(TimerEvent.id.desc()).limit(1))


def most_active_ms(session: Session, assignment: Assignment) -> int:
    """The most that any clock has told since the last entry of the log."""
    statement = select(func.max(TimerEvent.active_ms)).where(_since_entry(assignment))
    return session.scalar(statement) or 0


def count_pauses(session: Session, assignment_id: int) -> int:
    """How often the clock was stopped, by the person or by itself."""
    pauses = (TimerKind.PAUSE, TimerKind.AUTO_PAUSE)
    statement = select(func.count()).where(
        TimerEvent.assignment_id == assignment_id, TimerEvent.kind.in_(pauses)
    )
    return session.scalar(statement) or 0


def _since_entry(assignment: Assignment) -> ColumnElement[bool]:
    mine = TimerEvent.assignment_id == assignment.id
    since = assignment.last_entry_at
    return mine if since is None else and_(mine, TimerEvent.created_at > since)

"""Select statements for session clocks."""

from datetime import UTC, datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import TimerEvent
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import TimerKind

_BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
_SINCE_ENTRY = (
    TimerEvent.assignment_id == bindparam("assignment_id"),
    TimerEvent.created_at > bindparam("since"),
)
_MOST_ACTIVE = select(func.max(TimerEvent.active_ms)).where(*_SINCE_ENTRY)


def most_active_ms(session: Session, assignment: AssignmentHead) -> int:
    """Return the highest time that any clock has reported since the last entry of the log."""
    return session.scalar(_MOST_ACTIVE, _since_entry(assignment)) or 0


def count_pauses(session: Session, assignment_id: int) -> int:
    """Return how often the clock was paused, by the person or automatically."""
    pauses = (TimerKind.PAUSE, TimerKind.AUTO_PAUSE)
    statement = select(func.count()).where(
        TimerEvent.assignment_id == assignment_id, TimerEvent.kind.in_(pauses)
    )
    return session.scalar(statement) or 0


def _since_entry(assignment: AssignmentHead) -> dict[str, int | datetime]:
    return {
        "assignment_id": assignment.id,
        "since": assignment.last_entry_at or _BEFORE_ALL,
    }

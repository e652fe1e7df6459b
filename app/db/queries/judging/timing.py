"""Select statements for session clocks."""

from datetime import UTC, datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import JudgmentRow, TimerEvent
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import TimerKind
from topkapi.app.domain.timing import elapsed_ms

IDLE_REASON = "idle"
_BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
_SINCE_ENTRY = (
    TimerEvent.assignment_id == bindparam("assignment_id"),
    TimerEvent.created_at > bindparam("since"),
)
_LAST_IDLE = (
    select(func.max(TimerEvent.id))
    .where(*_SINCE_ENTRY, TimerEvent.kind == TimerKind.AUTO_PAUSE, TimerEvent.reason == IDLE_REASON)
    .scalar_subquery()
)
_MOST_ACTIVE = select(func.max(TimerEvent.active_ms)).where(
    *_SINCE_ENTRY, TimerEvent.id >= func.coalesce(_LAST_IDLE, 0)
)
_LAST_START = (
    select(func.max(TimerEvent.created_at).label("at"))
    .where(
        TimerEvent.assignment_id == bindparam("assignment_id"),
        TimerEvent.kind == TimerKind.START,
        TimerEvent.created_at <= bindparam("until"),
    )
    .cte("last_start")
)
_UNCLAIMED = select(
    _LAST_START.c.at,
    select(func.coalesce(func.sum(JudgmentRow.active_ms), 0))
    .where(
        JudgmentRow.assignment_id == bindparam("assignment_id"),
        JudgmentRow.created_at > _LAST_START.c.at,
    )
    .scalar_subquery(),
)


def most_active_ms(session: Session, assignment: AssignmentHead) -> int:
    """Return the highest time that any clock has reported since the last entry of the log.

    A pause for inactivity takes time back: what was reported before it does not count.
    """
    return session.scalar(_MOST_ACTIVE, _since_entry(assignment)) or 0


def unclaimed_ms(session: Session, assignment_id: int, until: datetime) -> int:
    """Return how long the last clock ran before ``until`` without any answer claiming the time."""
    where = {"assignment_id": assignment_id, "until": until}
    start, claimed = connection_of(session).execute(_UNCLAIMED, where).one()
    return 0 if start is None else elapsed_ms(start, until) - int(claimed)


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

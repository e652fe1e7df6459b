"""Select statements for session clocks."""

from datetime import UTC, datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import Assignment, JudgmentRow, TimerEvent
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
    select(TimerEvent.created_at.label("at"), TimerEvent.active_ms)
    .where(
        TimerEvent.assignment_id == bindparam("assignment_id"),
        TimerEvent.kind == TimerKind.START,
        TimerEvent.created_at <= bindparam("until"),
    )
    .order_by(TimerEvent.created_at.desc(), TimerEvent.id.desc())
    .limit(1)
    .cte("last_start")
)
_UNCLAIMED = select(
    _LAST_START.c.at,
    _LAST_START.c.active_ms,
    select(func.coalesce(func.sum(JudgmentRow.active_ms), 0))
    .where(
        JudgmentRow.assignment_id == bindparam("assignment_id"),
        JudgmentRow.created_at > _LAST_START.c.at,
        JudgmentRow.created_at <= bindparam("until"),
    )
    .scalar_subquery(),
)


def time_on_question(session: Session, assignment: AssignmentHead) -> int:
    """Return the highest time, in milliseconds, that any clock has reported since the last entry.

    A pause for inactivity takes time back: what was reported before it does not count.
    """
    return session.scalar(_MOST_ACTIVE, _since_entry(assignment)) or 0


def unclaimed(session: Session, assignment_id: int, until: datetime) -> tuple[datetime, int]:
    """Return when the last clock before ``until`` started, and its time that no answer claimed.

    Without a clock that is ``until``, and nothing. The question that was open when it started may
    have had some time already.
    """
    where = {"assignment_id": assignment_id, "until": until}
    found = connection_of(session).execute(_UNCLAIMED, where).one_or_none()
    if found is None:
        return until, 0
    start, before, claimed = found
    return start, max(0, before + elapsed_ms(start, until) - int(claimed))


def first_start(session: Session, assignment: AssignmentHead) -> datetime | None:
    """Return when a clock was first started since the last entry of the log."""
    statement = select(func.min(TimerEvent.created_at)).where(
        *_SINCE_ENTRY, TimerEvent.kind == TimerKind.START
    )
    return session.scalar(statement, _since_entry(assignment))


def claimed_elsewhere(
    session: Session, assignment: AssignmentHead, since: datetime, until: datetime
) -> list[tuple[int, int]]:
    """Return the person's other assignments with entries between, and their total time."""
    statement = (
        select(JudgmentRow.assignment_id, func.sum(JudgmentRow.active_ms))
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .where(
            Assignment.user_id == assignment.user_id,
            Assignment.id != assignment.id,
            Assignment.last_entry_at > since,
            JudgmentRow.created_at > since,
            JudgmentRow.created_at <= until,
        )
        .group_by(JudgmentRow.assignment_id)
    )
    return [(other, int(claimed)) for other, claimed in session.execute(statement)]


def last_elsewhere(
    session: Session, assignment: AssignmentHead, until: datetime
) -> datetime | None:
    """Return when the person's last entry in another assignment arrived, at ``until`` at most."""
    statement = (
        select(func.max(JudgmentRow.created_at))
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .where(
            Assignment.user_id == assignment.user_id,
            Assignment.id != assignment.id,
            JudgmentRow.created_at <= until,
        )
    )
    return session.scalar(statement)


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

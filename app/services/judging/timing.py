"""Session clocks: the times that browsers report, bounded by the server's clock.

A report says how long the pages of the open question have been looked at. It is bounded by the
server's clock on arrival, so that the last report can be trusted when a browser reconnects: a crash
loses the time since the last heartbeat, and no judgment.

A pause for inactivity takes back the time since the last activity, which earlier heartbeats have
reported: its own report counts instead. There is no grace period.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import TimerEvent
from topkapi.app.db.queries.judging import labeling as assignments
from topkapi.app.db.queries.judging import timing as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import TimerKind
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.timing import Spent, Start, spent

HEARTBEAT_SECONDS = 15


@dataclass(frozen=True, slots=True)
class Report:
    """A timer report of a browser; ``active_ms`` is the time on the open question."""

    kind: TimerKind
    active_ms: int = 0
    reason: str | None = None


def record_event(
    session: Session,
    *,
    assignment_id: int,
    user_id: int,
    report: Report,
    at: datetime | None = None,
) -> int:
    """Store a report with the accepted time, and return that time."""
    assignment = assignments.assignment_of(session, assignment_id, user_id)
    if assignment is None:
        raise NotFound(f"You have no assignment {assignment_id}.")
    at = at or now()
    if report.kind is TimerKind.START:
        active_ms = time_on_question(session, assignment)
    else:
        active_ms = spent_on_entry(assignment, report.active_ms, at).active_ms
    event = TimerEvent(
        assignment_id=assignment.id,
        kind=report.kind,
        reason=report.reason,
        active_ms=active_ms,
        created_at=at,
    )
    session.add(event)
    session.flush()
    return active_ms


def spent_on_entry(assignment: AssignmentHead, active_ms: int, at: datetime) -> Spent:
    """Return the reported time since the last entry, bounded by the server's clock."""
    start = None
    if assignment.started_at is not None and assignment.started_ms is not None:
        start = Start(assignment.started_at, assignment.started_ms)
    since = assignment.last_entry_at or assignment.created_at
    return spent(active_ms, since=since, now=at, start=start)


def spent_on_answer(
    session: Session, assignment: AssignmentHead, active_ms: int, at: datetime
) -> Spent:
    """Return the time of an entry that is appended now.

    An answer that waited for its predecessor may claim more than the time since that one arrived:
    whatever the clock of this browser has left.
    """
    time = spent_on_entry(assignment, active_ms, at)
    waited = time.active_ms < active_ms and assignment.started_at is None
    if not waited or assignment.last_entry_at is None:
        return time
    unclaimed = queries.unclaimed_ms(session, assignment.id, assignment.last_entry_at)
    return spent(active_ms, since=assignment.last_entry_at, now=at, unclaimed_ms=unclaimed)


def time_on_question(session: Session, assignment: AssignmentHead) -> int:
    """Return how long the open question has been looked at, in milliseconds."""
    return queries.most_active_ms(session, assignment)

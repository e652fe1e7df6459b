"""Session clocks: the times that browsers report, bounded by the server's clock.

A report says how long the pages of the open question have been looked at. It is bounded by the
server's clock on arrival, so that the last report can be trusted when a browser reconnects: a crash
loses the time since the last heartbeat, and no judgment.

A pause for inactivity takes back the time since the last activity, which earlier heartbeats have
reported: its own report counts instead. There is no grace period.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import Insert, exists, insert, literal, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import TimerEvent
from topkapi.app.db.queries.judging import labeling as assignments
from topkapi.app.db.queries.judging import timing as queries
from topkapi.app.db.queries.judging.labeling import AssignmentHead
from topkapi.app.domain.enums import TimerKind
from topkapi.app.domain.errors import NotFound
from topkapi.app.domain.timing import START_SLACK_MS, Spent, Start, elapsed_ms, spent
from topkapi.app.services.judging.teams import note_presence

FIRST_SECONDS = 15  # most on a first question whose clock was never started
UNSEEN_SECONDS = 600  # most that an answer may add to what heartbeats have reported


@dataclass(frozen=True, slots=True)
class TimerReport:
    """A timer report of a browser; ``active_ms`` is the time on the open question."""

    kind: TimerKind
    active_ms: int = 0
    reason: str | None = None


def record_event(
    session: Session,
    *,
    assignment_id: int,
    user_id: int,
    report: TimerReport,
    at: datetime | None = None,
) -> int:
    """Store a report with the accepted time, and return that time."""
    assignment = assignments.assignment_of(session, assignment_id, user_id)
    if assignment is None:
        raise NotFound(f"You have no assignment {assignment_id}.")
    at = at or now()
    note_presence(session, assignment, report.kind, at)
    if report.kind is TimerKind.START:
        active_ms = queries.time_on_question(session, assignment)
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
    elif assignment.last_entry_at is None:  # nobody knows when the first question was first seen
        start = Start(at - timedelta(seconds=FIRST_SECONDS), 0)
    since = assignment.last_entry_at or assignment.created_at
    return spent(active_ms, since=since, now=at, start=start)


def spent_on_answer(
    session: Session, assignment: AssignmentHead, active_ms: int, at: datetime
) -> Spent:
    """Return the time of an entry that is appended now.

    An answer that waited for its predecessor may claim more than the time since that one arrived:
    whatever the clock of this browser has left. Time that the person's answers in other
    assignments have claimed is not counted again. The wall time of the first entry runs from the
    first start of work.
    """
    time = spent_on_entry(assignment, active_ms, at)
    since, left = assignment.last_entry_at, 0
    waited = time.active_ms < active_ms and assignment.started_at is None and since is not None
    if waited and since is not None:
        since, left = queries.unclaimed(session, assignment.id, since)
        time = spent(active_ms, since=assignment.last_entry_at or at, now=at, unclaimed_ms=left)
    most = time.active_ms
    if most > UNSEEN_SECONDS * 1000:
        seen = queries.time_on_question(session, assignment)
        most = min(most, seen + UNSEEN_SECONDS * 1000)
    elsewhere = assignment.elsewhere_at
    if elsewhere is not None and elsewhere > (since or assignment.created_at):
        most = min(most, *_not_elsewhere(session, assignment, at, since if waited else None, left))
    active_ms, wall_ms = max(0, most), time.wall_ms
    if assignment.last_entry_at is None:
        begun = queries.first_start(session, assignment) or assignment.created_at
        wall_ms = max(active_ms, elapsed_ms(begun, at))
    return Spent(active_ms, wall_ms)


def _not_elsewhere(
    session: Session, assignment: AssignmentHead, at: datetime, since: datetime | None, left: int
) -> Iterator[int]:
    """Yield how long the question can have been looked at, besides the person's other questions.

    ``since`` is the start of the clock, and ``left`` its unclaimed time before the last entry, of
    an answer that waited for its predecessor.
    """
    if since is not None and assignment.last_entry_at is not None:
        gap = elapsed_ms(assignment.last_entry_at, at)
        yield left + gap - _taken_elsewhere(session, assignment, since, at)
        return
    first = queries.first_start(session, assignment) or assignment.last_entry_at
    first = first or at - timedelta(seconds=FIRST_SECONDS)
    starts = [Start(first, 0)]
    if assignment.started_at is not None:
        starts.append(Start(assignment.started_at, assignment.started_ms or 0))
    for start in starts:
        before = queries.last_elsewhere(session, assignment, start.at)
        slack = elapsed_ms(before, start.at) if before else START_SLACK_MS
        passed = start.active_ms + elapsed_ms(start.at, at) + min(START_SLACK_MS, slack)
        yield passed - _taken_elsewhere(session, assignment, start.at, at)


def _taken_elsewhere(
    session: Session, assignment: AssignmentHead, since: datetime, until: datetime
) -> int:
    """Return the least time after ``since`` that the person's other answers must have taken.

    An answer that arrived after it may have been thought about before: as long as its clock ran.
    """
    return sum(
        max(0, claimed - queries.unclaimed(session, other, since)[1])
        for other, claimed in queries.claimed_elsewhere(session, assignment, since, until)
    )


def first_serving(assignment_id: int, at: datetime) -> Insert:
    """Return the statement that starts the clock of a program's first question, unless it runs."""
    start = (TimerEvent.assignment_id == assignment_id, TimerEvent.kind == TimerKind.START)
    values = {
        TimerEvent.assignment_id: literal(assignment_id),
        TimerEvent.kind: literal(TimerKind.START, TimerEvent.kind.type),
        TimerEvent.active_ms: literal(0),
        TimerEvent.created_at: literal(at, TimerEvent.created_at.type),
    }
    row = select(*values.values()).where(~exists().where(*start))
    return insert(TimerEvent).from_select(list(values), row)

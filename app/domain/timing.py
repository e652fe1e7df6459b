"""Time spent on answers: the browser's active milliseconds, capped by the server's wall clock.

The cap is on the total since a browser started its clock, not on each answer: answers that wait for
a stalled server or a lost connection arrive together, and each still has the time that it took.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

# The browser's timer starts when the pages are shown; the server receives the event a little later.
START_SLACK_MS = 1000


@dataclass(frozen=True, slots=True)
class Spent:
    """Time of one log entry in milliseconds; active time never exceeds wall time.

    Wall time is the time since the previous entry arrived, or the active time if that is longer
    because both waited.
    """

    active_ms: int
    wall_ms: int


@dataclass(frozen=True, slots=True)
class Start:
    """When a timer was started, and its value at that moment."""

    at: datetime
    active_ms: int


def spent(
    active_ms: int,
    *,
    since: datetime,
    now: datetime,
    start: Start | None = None,
    unclaimed_ms: int = 0,
) -> Spent:
    """Return the time to record: the browser's active time, at most the time that has passed.

    ``since`` is the time of the previous entry, and ``unclaimed_ms`` the time before it in which a
    clock ran and that no answer has claimed. ``start`` is the last start of a timer after
    ``since``, if there was one: the assessor left in between, and the time away is not counted.
    """
    gap_ms = max(0, elapsed_ms(since, now))
    most = gap_ms + max(0, unclaimed_ms)
    if start is not None:
        most = min(most, start.active_ms + elapsed_ms(start.at, now) + START_SLACK_MS)
    accepted = max(0, min(active_ms, most))
    return Spent(active_ms=accepted, wall_ms=max(gap_ms, accepted))


def elapsed_ms(start: datetime, end: datetime) -> int:
    """Return the whole milliseconds from ``start`` to ``end``."""
    return (end - start) // timedelta(milliseconds=1)

"""What counts as time: the browser's active milliseconds, capped by the server's wall clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

# A browser's clock starts when its pages are shown, and the server hears of it a little later.
START_SLACK_MS = 1000


@dataclass(frozen=True, slots=True)
class Spent:
    """Time of one entry of the log, in milliseconds; active is never more than wall."""

    active_ms: int
    wall_ms: int


@dataclass(frozen=True, slots=True)
class Start:
    """When a clock was started, and what it stood at."""

    at: datetime
    active_ms: int


def spent(active_ms: int, *, since: datetime, now: datetime, start: Start | None = None) -> Spent:
    """The time to keep: what the browser's clock says, but no more than can have passed.

    ``since`` is the entry before; ``start`` is the last start of a clock after it, if there was
    one: the person left in between, and the time away is not time at work.
    """
    wall_ms = max(0, elapsed_ms(since, now))
    most = wall_ms
    if start is not None:
        most = min(most, start.active_ms + elapsed_ms(start.at, now) + START_SLACK_MS)
    return Spent(active_ms=max(0, min(active_ms, most)), wall_ms=wall_ms)


def elapsed_ms(start: datetime, end: datetime) -> int:
    """Whole milliseconds from ``start`` to ``end``."""
    return (end - start) // timedelta(milliseconds=1)

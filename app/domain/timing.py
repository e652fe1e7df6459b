"""What counts as time: the browser's active milliseconds, capped by the server's wall clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Spent:
    """Time of one entry of the log, in milliseconds; active is never more than wall."""

    active_ms: int
    wall_ms: int


def spent(active_ms: int, *, since: datetime, now: datetime) -> Spent:
    """The time to keep for an entry: what the clock says, but no more than has passed ``since``."""
    wall_ms = max(0, (now - since) // timedelta(milliseconds=1))
    return Spent(active_ms=max(0, min(active_ms, wall_ms)), wall_ms=wall_ms)

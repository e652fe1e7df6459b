"""``timers.csv``: events of the clocks of sessions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path

from topkapi.analysis.data.exports.cells import csv_line, read_csv, whole
from topkapi.analysis.data.exports.codec import iso, moment
from topkapi.analysis.errors import BadData

_TRUTH = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class ClockEvent:
    """An event of a session's clock; ``active_ms`` is the time on the clock, ``reason`` may be
    empty."""

    query: str
    assessor: str
    tool: str
    round: int
    withdrawn: bool
    event: str
    reason: str
    active_ms: int
    at: datetime


HEADER = tuple(field.name for field in fields(ClockEvent))


def timer_lines(records: Iterable[ClockEvent]) -> Iterator[str]:
    """Yield the lines of ``timers.csv``, the header first.

    A cell with a line end spans several lines.
    """
    yield csv_line(HEADER)
    for each in records:
        yield csv_line(
            (
                each.query,
                each.assessor,
                each.tool,
                str(each.round),
                "yes" if each.withdrawn else "no",
                each.event,
                each.reason,
                str(each.active_ms),
                iso(each.at),
            )
        )


def read_timers(path: str | Path) -> list[ClockEvent]:
    """Read ``timers.csv``, plain or gzip."""
    return [_event(cells, location) for location, cells in read_csv(path, HEADER)]


def _event(cells: list[str], location: str) -> ClockEvent:
    query, assessor, tool, round_, withdrawn, event, reason, active_ms, at = cells
    if withdrawn not in _TRUTH:
        raise BadData(f"{location}: withdrawn is {withdrawn!r}, not yes or no")
    return ClockEvent(
        query=query,
        assessor=assessor,
        tool=tool,
        round=whole(round_, location),
        withdrawn=_TRUTH[withdrawn],
        event=event,
        reason=reason,
        active_ms=whole(active_ms, location),
        at=moment(at, location),
    )

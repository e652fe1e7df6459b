"""``timers.csv``: events of the clocks of sessions."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from topkapi.analysis.data.exports.cells import csv_line, read_csv, whole
from topkapi.analysis.data.exports.codec import InRound, columns_of, iso, moment
from topkapi.analysis.errors import BadData

_TRUTH = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class ClockEvent(InRound):
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


HEADER = tuple(columns_of(ClockEvent))
_FORMER = tuple(name for name in HEADER if name != "round_number")


def timer_lines(records: Iterable[ClockEvent]) -> Iterator[str]:
    """Yield the lines of ``timers.csv``, the header first.

    A cell with a line end spans several lines.
    """
    yield csv_line(HEADER)
    for event in records:
        yield csv_line([_cell(getattr(event, name)) for name in HEADER])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return iso(value) if isinstance(value, datetime) else str(value)


def read_timers(path: str | Path) -> list[ClockEvent]:
    """Read ``timers.csv``, plain or gzip."""
    return [_event(cells, location) for location, cells in read_csv(path, HEADER, _FORMER)]


def _event(cells: list[str], location: str) -> ClockEvent:
    fields = dict(zip(HEADER if len(cells) == len(HEADER) else _FORMER, cells, strict=True))
    if fields["withdrawn"] not in _TRUTH:
        raise BadData(f"{location}: withdrawn is {fields['withdrawn']!r}, not yes or no")
    return ClockEvent(
        query=fields["query"],
        assessor=fields["assessor"],
        tool=fields["tool"],
        round=whole(fields["round"], location),
        withdrawn=_TRUTH[fields["withdrawn"]],
        event=fields["event"],
        reason=fields["reason"],
        active_ms=whole(fields["active_ms"], location),
        at=moment(fields["at"], location),
    )

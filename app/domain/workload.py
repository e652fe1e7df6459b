"""Estimated time for a whole queue, from a person's own pace with each tool."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from topkapi.app.domain.enums import Tool

LEAST_ANSWERS = 5  # with a tool, before its pace is trusted


@dataclass(frozen=True, slots=True)
class Work:
    """What is known about one assignment; ``expected_left`` is None while it is unknown."""

    tool: Tool
    finished: bool
    answered: int
    expected_left: int | None
    active_ms: int


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Estimated milliseconds for ``known`` open assignments of ``open_works``."""

    ms: int
    known: int
    open_works: int

    @property
    def unknown(self) -> int:
        """Number of open assignments that the estimate leaves out."""
        return self.open_works - self.known

    @property
    def is_whole(self) -> bool:
        """Whether every open assignment is part of the estimate."""
        return not self.unknown


def time_left(works: Sequence[Work]) -> TimeLeft:
    """Return the time that the open assignments will take at the person's pace.

    An assignment that has not begun is expected to be as long as the person's average one with
    the same tool. Tools with fewer than ``LEAST_ANSWERS`` answers are left out.
    """
    pace, length = _pace(works), _length(works)
    open_works = [work for work in works if not work.finished]
    estimates = [_estimate(work, pace, length) for work in open_works]
    known = [estimate for estimate in estimates if estimate is not None]
    return TimeLeft(round(sum(known)), len(known), len(open_works))


def _estimate(work: Work, pace: Mapping[Tool, float], length: Mapping[Tool, float]) -> float | None:
    left = length.get(work.tool) if work.expected_left is None else work.expected_left
    if left is None or work.tool not in pace:
        return None
    return pace[work.tool] * left


def _pace(works: Iterable[Work]) -> dict[Tool, float]:
    """Return milliseconds per answer by tool."""
    answered: dict[Tool, int] = {}
    active: dict[Tool, int] = {}
    for work in works:
        answered[work.tool] = answered.get(work.tool, 0) + work.answered
        active[work.tool] = active.get(work.tool, 0) + work.active_ms
    return {
        tool: active[tool] / number
        for tool, number in answered.items()
        if number >= LEAST_ANSWERS and active[tool]
    }


def _length(works: Iterable[Work]) -> dict[Tool, float]:
    """Return the mean number of questions of the assignments that have begun, by tool."""
    totals: dict[Tool, list[int]] = {}
    for work in works:
        if work.finished or work.answered:
            totals.setdefault(work.tool, []).append(work.answered + (work.expected_left or 0))
    return {tool: sum(each) / len(each) for tool, each in totals.items()}

"""When the work of a study is expected to end, from what was finished in the last days."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil, sqrt

DAYS = 14  # that are looked back on
LEAST = 3  # finished assignments below which nothing is forecast
_Z = 1.645  # a 90 % interval of a Poisson count, by its normal approximation
_LONGEST = 3650  # days; beyond, no date is given


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected last day, and a 90 % range; ``latest`` is None if it has no end in sight."""

    expected: date
    earliest: date
    latest: date | None

    @property
    def is_certain(self) -> bool:
        """Whether the range is the expected day alone."""
        return self.earliest == self.expected == self.latest


def forecast(finished: Sequence[int], remaining: int, today: date) -> Forecast | None:
    """Return the expected last day, or None while too little is finished.

    ``finished`` are the counts of the last days, today last. Days before the first count are left
    out: the study had not begun.
    """
    first = next((index for index, count in enumerate(finished) if count), len(finished))
    days, total = len(finished) - first, sum(finished)
    if total < LEAST or not remaining:
        return None
    spread = _Z * sqrt(total)
    expected = _after(today, remaining * days / total)
    earliest = _after(today, remaining * days / (total + spread))
    if expected is None or earliest is None:
        return None
    slow = total - spread
    return Forecast(
        expected, earliest, _after(today, remaining * days / slow) if slow > 0 else None
    )


def _after(today: date, days: float) -> date | None:
    return today + timedelta(days=ceil(days)) if days <= _LONGEST else None

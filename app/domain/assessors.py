"""Simulated assessors: they know the truth, call equal grades a tie, and err at a rate."""

from collections.abc import Sequence
from random import Random
from typing import Protocol

from app.domain.answers import ItemId, Pair, Preference


class Assessor(Protocol):
    """Anything that can be asked which of two items is better."""

    def prefer(self, pair: Pair) -> Preference:
        """The preference told about ``pair``."""
        ...


class SimulatedAssessor:
    """Prefers the item of greater worth, calls equal worths a tie, errs independently at ``error``.

    An error turns a preference round; asked about equals, an erring assessor prefers one at random.
    """

    def __init__(self, worth: Sequence[float], *, error: float = 0.0, random: Random) -> None:
        self._worth = worth
        self._error = error
        self._random = random

    def prefer(self, pair: Pair) -> Preference:
        """The preference told about ``pair``, items being places in ``worth``."""
        first, second = self._worth[pair[0]], self._worth[pair[1]]
        errs = self._error > 0 and self._random.random() < self._error
        if first == second:
            if not errs:
                return Preference.TIE
            return Preference.FIRST if self._random.random() < 0.5 else Preference.SECOND
        return Preference.FIRST if (first > second) is not errs else Preference.SECOND


def true_worths(n: int, grades: int, random: Random) -> list[float]:
    """A strict random order of ``n`` items, or one of ``grades`` equally likely grades each."""
    if grades:
        return [float(random.randrange(grades)) for _ in range(n)]
    order = list(range(n))
    random.shuffle(order)
    return [float(place) for place in order]


def by_worth(worth: Sequence[float]) -> list[ItemId]:
    """Items from best to worst, equals in their own order."""
    return sorted(range(len(worth)), key=lambda item: (-worth[item], item))

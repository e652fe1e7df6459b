"""Simulated assessors: they know the true worths, answer ties, and err as a model says."""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from math import exp, inf, sqrt
from random import Random
from typing import Protocol

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference


class Assessor(Protocol):
    """Anything that can be asked which of two items is better."""

    def prefer(self, pair: Pair) -> Preference:
        """Return the assessor's preference for ``pair``."""
        ...


class AtRandom:
    """Prefers either item, whatever they are worth."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def prefer(self, pair: Pair) -> Preference:  # noqa: ARG002 (others look at it)
        """Return one preference or the other."""
        return Preference.FIRST if self._random.random() < 0.5 else Preference.SECOND


class Errors(StrEnum):
    """Error model.

    ``uniform``: the same rate for every pair. ``even``: worths 1 to n, and errors that get rarer
    with distance by the logistic function (Bradley-Terry). ``normal``: the same with normal worths.
    ``mixed``: a coin flip at the error rate, otherwise ``even`` with half the rate. ``bt`` is
    another name of ``even``. ``people``: as ``normal``, with a width for each query that is drawn
    from those of real people's votes (`WIDTHS`).
    """

    UNIFORM = "uniform"
    EVEN = "even"
    NORMAL = "normal"
    MIXED = "mixed"
    BRADLEY_TERRY = "bt"
    PEOPLE = "people"


# Width of real people's errors, in standard deviations of the scores of the items, by the share of
# sets with a smaller one: Bradley-Terry fits to the pooled votes of sets of comparative judgement
# (docs/notes/sorters.md). Lapses are part of these widths, so none are added.
SETS = 67
WIDTHS = (
    (0.0, 0.15),
    (0.1, 0.21),
    (0.25, 0.35),
    (0.5, 0.64),
    (0.75, 0.86),
    (0.9, 1.32),
    (1.0, 2.0),
)


class SimulatedAssessor:
    """Prefers the item of greater worth, calls equal worths a tie, errs at the mean rate ``error``.

    An error reverses a preference; for equal items, an erring assessor prefers one at random.
    ``persistent``: the assessor gives the same answer to the same pair every time.
    """

    def __init__(
        self,
        worth: Sequence[float],
        *,
        error: float = 0.0,
        errors: Errors = Errors.UNIFORM,
        persistent: bool = False,
        random: Random,
    ) -> None:
        self.worth = worth
        self._error = error
        self._persistent = persistent
        self._random = random
        self._given: dict[Pair, Preference] = {}
        self._lapse = error if errors is Errors.MIXED else 0.0
        self._steepness: float | None = None
        if errors is Errors.PEOPLE:
            self._steepness = 1.0  # worths are in units of the noise
        elif errors is not Errors.UNIFORM and error > 0:
            self._steepness = _steepness_of(errors, len(set(worth)), error)

    def prefer(self, pair: Pair) -> Preference:
        """Return the assessor's preference for ``pair``, two indices into ``worth``."""
        if not self._persistent:
            return self._draw(pair)
        if pair not in self._given:
            answer = self._draw(pair)
            self._given[pair], self._given[pair[1], pair[0]] = answer, answer.swapped()
        return self._given[pair]

    def _draw(self, pair: Pair) -> Preference:
        first, second = self.worth[pair[0]], self.worth[pair[1]]
        chance = self._chance(abs(first - second))
        errs = chance > 0 and self._random.random() < chance
        if first == second:
            if not errs:
                return Preference.TIE
            return Preference.FIRST if self._random.random() < 0.5 else Preference.SECOND
        return Preference.FIRST if (first > second) is not errs else Preference.SECOND

    def _chance(self, distance: float) -> float:
        if self._steepness is None or distance == 0:
            return self._error
        close = _logistic_tail(self._steepness * distance)
        return self._lapse / 2 + (1 - self._lapse) * close


def _steepness_of(errors: Errors, levels: int, rate: float) -> float:
    if errors is Errors.NORMAL:
        return 1 / normal_width(rate)
    return steepness(levels, rate / 2 if errors is Errors.MIXED else rate)


@lru_cache(maxsize=64)
def steepness(levels: int, rate: float) -> float:
    """Return the steepness of the Bradley-Terry link that gives mean error ``rate``.

    The mean is over all pairs of ``levels`` distinct worths, evenly spaced by 1. The probability of
    an error is 1 / (1 + exp(steepness * distance)).
    """
    pairs = [(apart, levels - apart) for apart in range(1, levels)]
    return _steepness(tuple((float(apart), float(count)) for apart, count in pairs), rate)


@lru_cache(maxsize=64)
def normal_width(rate: float) -> float:
    """Return the width that gives mean error ``rate`` over pairs of standard normal worths.

    The difference of two worths is normal with variance 2; its density is summed on a grid.
    """
    grid = [(index + 0.5) * 0.01 for index in range(700)]
    return 1 / _steepness(tuple((apart, exp(-apart * apart / 4)) for apart in grid), rate)


def _steepness(distances: tuple[tuple[float, float], ...], rate: float) -> float:
    """Return the steepness whose mean error over weighted ``distances`` is ``rate``."""
    if not 0 < rate < 0.5:
        raise Invalid(
            f"The mean rate of Bradley-Terry errors is {rate}; it must be between 0 and 0.5.",
            field="error",
        )
    total = sum(weight for _, weight in distances) or inf
    low, high = 0.0, 1024.0
    for _ in range(60):
        middle = (low + high) / 2
        errors = sum(weight * _logistic_tail(middle * apart) for apart, weight in distances)
        low, high = (middle, high) if errors / total > rate else (low, middle)
    return high


def _logistic_tail(value: float) -> float:
    return 1 / (1 + exp(min(value, 700.0)))


def _drawn_width(random: Random) -> float:
    """Draw a width, log-linear between the quantiles."""
    share = random.random()
    (low, narrow), (high, wide) = next(ends for ends in pairwise(WIDTHS) if share <= ends[1][0])
    return float(narrow * (wide / narrow) ** ((share - low) / (high - low)))


@lru_cache(maxsize=1)
def mean_error_of_people() -> float:
    """Return the mean error over random pairs of items, and over the drawn widths."""
    random, total, count = Random(0), 0.0, 20_000
    for _ in range(count):
        total += _logistic_tail(abs(random.gauss(0.0, sqrt(2))) / _drawn_width(random))
    return round(total / count, 3)


def true_worths(
    n: int, grades: int, random: Random, errors: Errors = Errors.UNIFORM
) -> list[float]:
    """Draw a strict random order of ``n`` items, or one of ``grades`` grades for each.

    All grades are equally likely; 0 ``grades`` means a strict order. With `Errors.NORMAL` strict
    worths are standard normal, with `Errors.PEOPLE` normal or graded in units of the noise of an
    answer, otherwise 0 to n - 1.
    """
    if errors is Errors.PEOPLE:
        strict = Errors.UNIFORM if grades else Errors.NORMAL
        sd = sqrt((grades**2 - 1) / 12) if grades > 1 else 1.0
        scale = 1 / (_drawn_width(random) * sd)
        return [scale * each for each in true_worths(n, grades, random, strict)]
    if grades:
        return [float(random.randrange(grades)) for _ in range(n)]
    if errors is Errors.NORMAL:
        return [random.gauss(0.0, 1.0) for _ in range(n)]
    order = list(range(n))
    random.shuffle(order)
    return [float(rank) for rank in order]


def by_worth(worth: Sequence[float]) -> list[ItemId]:
    """Return the items from best to worst, equal ones by index."""
    return sorted(range(len(worth)), key=lambda item: (-worth[item], item))

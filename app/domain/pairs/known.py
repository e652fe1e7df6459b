"""Known answers: pairs of a query whose better page is known, and how often an assessor agrees.

A pair is known from the study's gold pairs, or from known grades that differ clearly. Gold decides
where both exist.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from topkapi.app.domain.pairs.answers import (
    UNJUDGEABLE_ANSWERS,
    ItemId,
    Judgment,
    Pair,
    Preference,
)
from topkapi.app.domain.pairs.sorter_run import sorted_pair

CLEAR = 2  # grades apart; 1 in a study whose known grades are all 0 or 1
BINARY_CLEAR = 1
ACCURATE = 0.75  # of answers on known pairs: nobody careful is clearly below
_Z = 1.959963984540054  # two-sided, 95 %


@dataclass(frozen=True, slots=True)
class KnownPairs:
    """What is known about the pairs of a query: gold pairs, and grades at least ``gap`` apart.

    The keys of ``gold`` are sorted pairs; a preference is about the pair in that order.
    """

    gold: Mapping[Pair, Preference] = field(default_factory=dict)
    grades: Mapping[ItemId, int] = field(default_factory=dict)
    gap: int = CLEAR

    def __bool__(self) -> bool:
        return bool(self.gold or self.grades)

    def preference(self, first: ItemId, second: ItemId) -> Preference | None:
        """Return the known preference between two pages; None if it is unknown."""
        pair = sorted_pair((first, second))
        known = self.gold.get(pair) or self._graded(*pair)
        return known if known is None or pair[0] == first else known.swapped()

    def _graded(self, first: ItemId, second: ItemId) -> Preference | None:
        one, two = self.grades.get(first), self.grades.get(second)
        if one is None or two is None or abs(one - two) < self.gap:
            return None
        return Preference.FIRST if one > two else Preference.SECOND

    def is_right(self, judgment: Judgment) -> bool | None:
        """Return whether an answer agrees; None if the pair or the answer cannot be compared.

        A page marked as bad counts as the worse one; "cannot judge" is not compared.
        """
        known = self.preference(judgment.left, judgment.right)
        if known is None or judgment.answer in UNJUDGEABLE_ANSWERS:
            return None
        if judgment.answer.is_preference:
            return judgment.answer.preference() is known
        better = Preference.SECOND if judgment.marked == judgment.left else Preference.FIRST
        return better is known

    def count(self, judgments: Iterable[Judgment]) -> tuple[int, int]:
        """Return the number of answers that can be compared, and how many are right."""
        compared = [right for each in judgments if (right := self.is_right(each)) is not None]
        return len(compared), sum(compared)


def gold_of(stored: Iterable[tuple[ItemId, ItemId, str]]) -> dict[Pair, Preference]:
    """Return gold pairs by sorted pair, from rows of left page, right page and answer."""
    found: dict[Pair, Preference] = {}
    for left, right, answer in stored:
        pair, better = sorted_pair((left, right)), _PREFERENCES[answer]
        found[pair] = better if pair[0] == left else better.swapped()
    return found


_PREFERENCES = {
    "left": Preference.FIRST,
    "right": Preference.SECOND,
    "tie": Preference.TIE,
}
GOLD_ANSWERS: Sequence[str] = tuple(_PREFERENCES)


def wilson_interval(right: int, total: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; ``total`` is at least 1.

    The report computes the same in `topkapi.analysis.jackknife`; this needs no NumPy.
    """
    share, shift = right / total, _Z**2 / total
    centre = (share + shift / 2) / (1 + shift)
    half = sqrt(share * (1 - share) * shift + shift**2 / 4) / (1 + shift)
    return max(0.0, centre - half), min(1.0, centre + half)

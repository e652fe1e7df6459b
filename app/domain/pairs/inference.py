"""Transitive closure of strict preferences, updated incrementally per answer."""

from copy import copy
from typing import Self

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference


class Closure:
    """The transitive closure of "is better than": per item, bit sets of better and worse items.

    Adding a preference costs one pass over the items that it newly connects; a lookup costs one bit
    test. Contradictions cannot occur: a pair that is implied is never asked.
    """

    def __init__(self) -> None:
        self._number: dict[ItemId, int] = {}
        self._worse: list[int] = []
        self._better: list[int] = []

    def copied(self) -> Self:
        """Return an independent copy."""
        twin = copy(self)
        twin._number = dict(self._number)
        twin._worse = list(self._worse)
        twin._better = list(self._better)
        return twin

    def implied(self, pair: Pair) -> Preference | None:
        """Return the preference implied for ``pair``; None if there is none."""
        first, second = self._number_of(pair[0]), self._number_of(pair[1])
        if self._worse[first] >> second & 1:
            return Preference.FIRST
        if self._worse[second] >> first & 1:
            return Preference.SECOND
        return None

    def add(self, pair: Pair, verdict: Preference) -> None:
        """Add one answer; a tie implies no order."""
        if verdict is Preference.TIE:
            return
        winner, loser = pair if verdict is Preference.FIRST else (pair[1], pair[0])
        top, bottom = self._number_of(winner), self._number_of(loser)
        above = self._better[top] | 1 << top
        below = self._worse[bottom] | 1 << bottom
        for number in _bits(above):
            self._worse[number] |= below
        for number in _bits(below):
            self._better[number] |= above

    def _number_of(self, item: ItemId) -> int:
        if item not in self._number:
            self._number[item] = len(self._worse)
            self._worse.append(0)
            self._better.append(0)
        return self._number[item]


def _bits(mask: int) -> list[int]:
    """Return the indices of the bits set in ``mask``."""
    indices = []
    while mask:
        lowest = mask & -mask
        indices.append(lowest.bit_length() - 1)
        mask ^= lowest
    return indices

"""What follows from strict preferences by transitivity, kept up to date answer by answer."""

from copy import copy
from typing import Self

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference


class Closure:
    """The transitive closure of "is better than", one bit set of better and worse items an item.

    Adding a preference costs one pass over the items it newly connects; asking costs one bit test.
    Contradictions cannot enter: a pair that is implied is never asked.
    """

    def __init__(self) -> None:
        self._number: dict[ItemId, int] = {}
        self._worse: list[int] = []
        self._better: list[int] = []

    def copied(self) -> Self:
        """The same closure, to go on from by itself."""
        twin = copy(self)
        twin._number = dict(self._number)
        twin._worse = list(self._worse)
        twin._better = list(self._better)
        return twin

    def implied(self, pair: Pair) -> Preference | None:
        """The preference that follows for ``pair``, if one does."""
        first, second = self._number_of(pair[0]), self._number_of(pair[1])
        if self._worse[first] >> second & 1:
            return Preference.FIRST
        if self._worse[second] >> first & 1:
            return Preference.SECOND
        return None

    def add(self, pair: Pair, verdict: Preference) -> None:
        """Take in one answer; a tie orders nothing."""
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
    """The places of the ones in ``mask``."""
    places = []
    while mask:
        lowest = mask & -mask
        places.append(lowest.bit_length() - 1)
        mask ^= lowest
    return places

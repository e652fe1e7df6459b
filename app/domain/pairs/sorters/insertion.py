"""`insertion`: binary insertion into the best k so far."""

from collections.abc import Generator, Sequence

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.sorters.ranking import Ranking, Sorter, singly


def insertion_questions(items: int, k: int) -> int:
    """Return the most questions that the insertion of ``items`` into a list of ``k`` asks."""
    return items * (1 + k.bit_length())


def inserted(ranking: Ranking, items: Sequence[ItemId], k: int) -> Sorter:
    """Insert ``items`` into the classes of a finished list of the best ``k``.

    Once the list is full, an item is first compared with the last class.
    """
    classes = list(ranking)
    for item in items:
        while classes and sum(map(len, classes[:-1])) >= k:
            classes.pop()
        lasts = [each[-1] for each in classes]  # neighbours of a tied item, which is grouped later
        is_full = sum(map(len, classes)) >= k
        if is_full and (yield item, lasts.pop()) is not Preference.FIRST:
            continue
        index = yield from _binary_search(lasts, item)
        classes.insert(index, (item,))
    return tuple(classes)


def insertion(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by binary insertion into the best ``k`` so far.

    Once the list is full, an item is first compared with the last one.
    """
    best: list[ItemId] = []
    for item in items:
        if len(best) == k:
            if k == 0 or (yield item, best[-1]) is not Preference.FIRST:
                continue
            best.pop()
        index = yield from _binary_search(best, item)
        best.insert(index, item)
    return singly(best)


def _binary_search(ranked: Sequence[ItemId], item: ItemId) -> Generator[Pair, Preference, int]:
    """Return the index for ``item`` in ``ranked``, best first; after an equal item."""
    low, high = 0, len(ranked)
    while low < high:
        middle = (low + high) // 2
        answer = yield item, ranked[middle]
        if answer is Preference.TIE:
            return middle + 1
        low, high = (low, middle) if answer is Preference.FIRST else (middle + 1, high)
    return low

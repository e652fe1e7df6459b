"""The min-heap of the best k items, shared by the heap sorters, which sift down differently."""

from collections.abc import Callable, Sequence

from topkapi.app.domain.pairs.answers import ItemId, Preference
from topkapi.app.domain.pairs.sorters.ranking import Asks, Sorter, singly


def sort_by_heap(
    sift: Callable[[list[ItemId], int], Asks], items: Sequence[ItemId], k: int
) -> Sorter:
    """Keep the best ``k`` items in a min-heap, then empty it; ``sift`` restores the heap."""
    worst_first = list(items[:k])
    for node in reversed(range(len(worst_first) // 2)):
        yield from sift(worst_first, node)
    for item in items[k:]:
        if (yield item, worst_first[0]) is Preference.FIRST:
            worst_first[0] = item
            yield from sift(worst_first, 0)
    ranked: list[ItemId] = []
    while worst_first:
        ranked.append(worst_first[0])
        last = worst_first.pop()
        if worst_first:
            worst_first[0] = last
            yield from sift(worst_first, 0)
    return singly(ranked[::-1])

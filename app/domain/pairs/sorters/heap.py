"""`heap`: the min-heap of Niu et al. 2012."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId, Preference
from topkapi.app.domain.pairs.sorters.budget import mean_questions
from topkapi.app.domain.pairs.sorters.min_heap import sort_by_heap
from topkapi.app.domain.pairs.sorters.ranking import Asks, Sorter


def heap(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a min-heap of the best ``k`` items, the worst at its root.

    This is Algorithm 1 of Niu et al. 2012. ``items`` are in random order, so the first ``k`` are
    the paper's random choice. The heap is built bottom-up (Floyd), every other item is compared
    with the root, and at the end the heap is emptied, worst first.
    """
    return (yield from sort_by_heap(_sift_down, items, k))


def _sift_down(tree: list[ItemId], node: int) -> Asks:
    """Move the item at ``node`` down until no child is worse; a tie moves nothing."""
    while (child := 2 * node + 1) < len(tree):
        if child + 1 < len(tree) and (yield tree[child], tree[child + 1]) is Preference.FIRST:
            child += 1
        if (yield tree[node], tree[child]) is not Preference.FIRST:
            return
        tree[node], tree[child] = tree[child], tree[node]
        node = child


def heap_questions(n: int, k: int) -> int:
    """Return the mean number of distinct questions of the heap for ``n`` items and best ``k``."""
    return mean_questions(heap, n, k)

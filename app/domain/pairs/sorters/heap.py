"""`heap`, the min-heap of Niu et al. 2012, and `heap-bottom-up`, with leaf-search sift-down."""

from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from topkapi.app.domain.draws import shuffled
from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.sorters.ranking import Asks, Sorter, singly

Sort = Callable[[Sequence[ItemId], int], Generator[Pair, Preference, Any]]

_FEWEST_RUNS, _MOST_RUNS = 4, 64
_PAGES = 3_200  # pages sorted in all runs together, so that the time does not grow with n


@lru_cache(maxsize=256)
def mean_questions(sort: Sort, n: int, k: int) -> int:
    """Return the mean number of distinct pairs that ``sort`` asks, with error-free answers."""
    runs = max(_FEWEST_RUNS, min(_MOST_RUNS, _PAGES // max(1, n)))
    return round(sum(_asked(sort, n, k, run) for run in range(runs)) / runs)


def _asked(sort: Sort, n: int, k: int, run: int) -> int:
    """Return the number of distinct pairs asked in one run; items are their own worths."""
    sorter = sort(shuffled(range(n), "budget", n, run), k)
    pairs: set[frozenset[int]] = set()
    try:
        pair = next(sorter)
        while True:
            pairs.add(frozenset(pair))
            pair = sorter.send(Preference.FIRST if pair[0] > pair[1] else Preference.SECOND)
    except StopIteration:
        return len(pairs)


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


def heap_bottom_up(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by the heap with leaf-search sift-down.

    It descends along the worse children to a leaf, then climbs.
    """
    return (yield from sort_by_heap(_sift_down_from_leaf, items, k))


def _sift_down_from_leaf(tree: list[ItemId], node: int) -> Asks:
    """Find the path of worse children to a leaf; climb until the item is not the worse one."""
    path = [node]
    while (child := 2 * path[-1] + 1) < len(tree):
        if child + 1 < len(tree) and (yield tree[child], tree[child + 1]) is Preference.FIRST:
            child += 1
        path.append(child)
    item = tree[node]
    while len(path) > 1 and (yield item, tree[path[-1]]) is Preference.SECOND:
        path.pop()
    for above, below in pairwise(path):
        tree[above] = tree[below]
    tree[path[-1]] = item

"""`heap-bottom-up`: the heap with leaf-search sift-down."""

from collections.abc import Sequence
from itertools import pairwise

from topkapi.app.domain.pairs.answers import ItemId, Preference
from topkapi.app.domain.pairs.sorters.min_heap import sort_by_heap
from topkapi.app.domain.pairs.sorters.ranking import Asks, Sorter


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

"""Sorters by name and version.

Name and version are stored with an assignment: a version is never reused. Assignments of an older
version that is still registered continue under the current one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.pairs.sorters.heap import heap, heap_bottom_up, heap_questions
from topkapi.app.domain.pairs.sorters.insertion import insertion
from topkapi.app.domain.pairs.sorters.ranking import Sorter
from topkapi.app.domain.pairs.sorters.winner_tree import buckets, tournament


def heap_bound(n: int, k: int) -> int:
    """Return the bound of the heap: two questions per level of every sift-down.

    The parts are Floyd's build, one comparison with the root per further item, and the final sort.
    """
    k = min(n, k)
    build = sum(2 * _levels_below(node, k) for node in range(k // 2))
    feed = (n - k) * (1 + 2 * _levels_below(0, k)) if k else 0
    final = sum(2 * _levels_below(0, size) for size in range(1, k))
    return build + feed + final


def insertion_bound(n: int, k: int) -> int:
    """Return the bound of binary insertion: one binary search per item.

    Once the list is full: one comparison with its last item, then a search among k - 1.
    """
    k = min(n, k)
    filling = sum(_halvings(size) for size in range(k))
    return filling + ((n - k) * (1 + _halvings(k - 1)) if k else 0)


def tournament_bound(n: int, k: int) -> int:
    """Return the bound of the tournament: n - 1 matches for the best, then one path per item.

    The first match of a leaf's path has no opponent.
    """
    k = min(n, k)
    if k == 0 or n == 1:
        return max(n - 1, 0)
    return n - 1 + (k - 1) * ((n - 1).bit_length() - 1)


def _halvings(size: int) -> int:
    """Return the questions of a binary search among ``size`` items: ceil(log2(size + 1))."""
    return size.bit_length()


def _levels_below(node: int, size: int) -> int:
    """Count the levels under ``node`` of a complete tree of ``size`` nodes in an array."""
    levels = 0
    while (node := 2 * node + 1) < size:
        levels += 1
    return levels


@dataclass(frozen=True, slots=True)
class SorterInfo:
    """A sorter, its version, an upper bound on its questions, and a summary for people.

    ``sampled``: the sorter draws its questions at random, asks as many as a budget allows, and
    returns the most probable list; it has its own strategy, and no ``sort``. The others are exact
    if every answer is correct. ``continues``: older versions whose assignments it continues.
    """

    version: int
    sort: Callable[[Sequence[ItemId], int], Sorter] | None
    bound: Callable[[int, int], int]
    summary: str
    sampled: bool = False
    continues: tuple[int, ...] = ()


SORTERS: dict[str, SorterInfo] = {
    "heap": SorterInfo(1, heap, heap_bound, "min-heap of the best k (Niu et al. 2012)"),
    "heap-bottom-up": SorterInfo(1, heap_bottom_up, heap_bound, "the heap with leaf search"),
    "insertion": SorterInfo(1, insertion, insertion_bound, "binary insertion into the best k"),
    "tournament": SorterInfo(1, tournament, tournament_bound, "winner tree: fewest questions"),
    "buckets": SorterInfo(1, buckets, tournament_bound, "winner tree that merges ties"),
    "robust": SorterInfo(
        3, None, heap_questions, "learns how people err; fixed question budget", True, (1, 2)
    ),
}


def is_registered(name: str, version: int) -> bool:
    """Return whether assignments of this sorter and version can be opened."""
    known = SORTERS.get(name)
    return known is not None and version in (known.version, *known.continues)

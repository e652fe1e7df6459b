"""Sorters: generators that yield a pair, are sent the preference, and return the ranking.

A sorter returns classes of equally good items, best class first; all except `buckets` return
classes of one item. Name and version are stored with an assignment: a version is never reused.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.sorters.bounds import heap_bound, insertion_bound, tournament_bound
from topkapi.app.domain.pairs.sorters.budget import mean_questions

ItemClass = tuple[ItemId, ...]
Ranking = tuple[ItemClass, ...]
Sorter = Generator[Pair, Preference, Ranking]
Asks = Generator[Pair, Preference, None]

FIRST, SECOND, TIE = Preference.FIRST, Preference.SECOND, Preference.TIE


def singly(items: Sequence[ItemId]) -> Ranking:
    """Return each item as a class of its own."""
    return tuple((item,) for item in items)


def heap(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a min-heap of the best ``k`` items, the worst at its root.

    This is Algorithm 1 of Niu et al. 2012. ``items`` are in random order, so the first ``k`` are
    the paper's random choice. The heap is built bottom-up (Floyd), every other item is compared
    with the root, and at the end the heap is emptied, worst first.
    """
    return (yield from _heap_with(_sift_down, items, k))


def heap_bottom_up(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by the heap with leaf-search sift-down.

    It descends along the worse children to a leaf, then climbs.
    """
    return (yield from _heap_with(_sift_down_from_leaf, items, k))


def _heap_with(
    sift: Callable[[list[ItemId], int], Asks], items: Sequence[ItemId], k: int
) -> Sorter:
    worst_first = list(items[:k])
    for node in reversed(range(len(worst_first) // 2)):
        yield from sift(worst_first, node)
    for item in items[k:]:
        if (yield item, worst_first[0]) is FIRST:
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


def _sift_down(tree: list[ItemId], node: int) -> Asks:
    """Move the item at ``node`` down until no child is worse; a tie moves nothing."""
    while (child := 2 * node + 1) < len(tree):
        if child + 1 < len(tree) and (yield tree[child], tree[child + 1]) is FIRST:
            child += 1
        if (yield tree[node], tree[child]) is not FIRST:
            return
        tree[node], tree[child] = tree[child], tree[node]
        node = child


def _sift_down_from_leaf(tree: list[ItemId], node: int) -> Asks:
    """Find the path of worse children to a leaf; climb until the item is not the worse one."""
    path = [node]
    while (child := 2 * path[-1] + 1) < len(tree):
        if child + 1 < len(tree) and (yield tree[child], tree[child + 1]) is FIRST:
            child += 1
        path.append(child)
    item = tree[node]
    while len(path) > 1 and (yield item, tree[path[-1]]) is SECOND:
        path.pop()
    for above, below in pairwise(path):
        tree[above] = tree[below]
    tree[path[-1]] = item


def insertion(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by binary insertion into the best ``k`` so far.

    Once the list is full, an item is first compared with the last one.
    """
    best: list[ItemId] = []
    for item in items:
        if len(best) == k:
            if k == 0 or (yield item, best[-1]) is not FIRST:
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
        if answer is TIE:
            return middle + 1
        low, high = (low, middle) if answer is FIRST else (middle + 1, high)
    return low


def tournament(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a winner tree: n - 1 questions for the best, then one path to the root per item."""
    ranking = yield from _winner_tree(items, k, merge_ties=False)
    return ranking


def buckets(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a winner tree over tie classes: equal items continue as one class.

    Merged items share the matches that they have won. The last class is returned whole, even if it
    extends beyond ``k``.
    """
    ranking = yield from _winner_tree(items, k, merge_ties=True)
    return ranking


def _winner_tree(items: Sequence[ItemId], k: int, *, merge_ties: bool) -> Sorter:
    """Play all matches, then repeatedly remove the winning class and replay its matches."""
    n = len(items)
    if k == 0:
        return ()
    rank = {item: index for index, item in enumerate(items)}
    tree: list[ItemClass] = [()] * n + [(item,) for item in items]
    leaf = {item: n + index for index, item in enumerate(items)}
    for node in range(n - 1, 0, -1):
        tree[node] = yield from _match(tree[2 * node], tree[2 * node + 1], merge_ties)
    ranked: list[ItemClass] = []
    taken = 0
    while taken < min(k, n):
        best = tuple(sorted(tree[1], key=rank.__getitem__))
        ranked.append(best)
        taken += len(best)
        if taken < min(k, n):
            for node in _matches_of([leaf[item] for item in best], tree):
                tree[node] = yield from _match(tree[2 * node], tree[2 * node + 1], merge_ties)
    return tuple(ranked)


def _matches_of(leaves: Sequence[int], tree: list[ItemClass]) -> list[int]:
    """Empty ``leaves`` and list the matches above them, each after those it depends on."""
    above: set[int] = set()
    for node in leaves:
        tree[node] = ()
        while (node := node // 2) >= 1:
            above.add(node)
    return sorted(above, reverse=True)


def _match(
    one: ItemClass, other: ItemClass, merge_ties: bool
) -> Generator[Pair, Preference, ItemClass]:
    """Return the winning class; an empty side loses without a question."""
    if not one or not other:
        return one or other
    answer = yield one[0], other[0]
    if answer is TIE and merge_ties:
        return one + other
    return other if answer is SECOND else one


def heap_questions(n: int, k: int) -> int:
    """Return the mean number of distinct questions of the heap for ``n`` items and best ``k``."""
    return mean_questions(heap, n, k)


@dataclass(frozen=True, slots=True)
class SorterInfo:
    """A sorter, its version, an upper bound on its questions, and a summary for people.

    ``sampled``: the sorter draws its questions at random, asks as many as a budget allows, and
    returns the most probable list; it has its own strategy, and no ``sort``. The others are exact
    if every answer is correct.
    """

    version: int
    sort: Callable[[Sequence[ItemId], int], Sorter] | None
    bound: Callable[[int, int], int]
    summary: str
    sampled: bool = False


SORTERS: dict[str, SorterInfo] = {
    "heap": SorterInfo(1, heap, heap_bound, "min-heap of the best k (Niu et al. 2012)"),
    "heap-bottom-up": SorterInfo(1, heap_bottom_up, heap_bound, "the heap with leaf search"),
    "insertion": SorterInfo(1, insertion, insertion_bound, "binary insertion into the best k"),
    "tournament": SorterInfo(1, tournament, tournament_bound, "winner tree: fewest questions"),
    "buckets": SorterInfo(1, buckets, tournament_bound, "winner tree that merges ties"),
    "robust": SorterInfo(1, None, heap_questions, "allows for errors; fixed question budget", True),
}

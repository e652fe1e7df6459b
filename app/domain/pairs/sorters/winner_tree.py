"""Winner trees: `tournament` and `buckets`, which differ in what a tie does."""

from collections.abc import Generator, Sequence

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.sorters.ranking import ItemClass, Sorter


def sort_by_winner_tree(items: Sequence[ItemId], k: int, *, merge_ties: bool) -> Sorter:
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
    if answer is Preference.TIE and merge_ties:
        return one + other
    return other if answer is Preference.SECOND else one


def tournament(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a winner tree: n - 1 questions for the best, then one path to the root per item."""
    ranking = yield from sort_by_winner_tree(items, k, merge_ties=False)
    return ranking


def buckets(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a winner tree over tie classes: equal items continue as one class.

    Merged items share the matches that they have won. The last class is returned whole, even if it
    extends beyond ``k``.
    """
    ranking = yield from sort_by_winner_tree(items, k, merge_ties=True)
    return ranking

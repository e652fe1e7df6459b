"""`tournament`: a winner tree, which asks the fewest questions."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.pairs.sorters.ranking import Sorter
from topkapi.app.domain.pairs.sorters.winner_tree import sort_by_winner_tree


def tournament(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a winner tree: n - 1 questions for the best, then one path to the root per item."""
    ranking = yield from sort_by_winner_tree(items, k, merge_ties=False)
    return ranking

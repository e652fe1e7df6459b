"""`buckets`: a winner tree over tie classes."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.pairs.sorters.ranking import Sorter
from topkapi.app.domain.pairs.sorters.winner_tree import sort_by_winner_tree


def buckets(items: Sequence[ItemId], k: int) -> Sorter:
    """Sort by a winner tree over tie classes: equal items continue as one class.

    Merged items share the matches that they have won. The last class is returned whole, even if it
    extends beyond ``k``.
    """
    ranking = yield from sort_by_winner_tree(items, k, merge_ties=True)
    return ranking

"""Ties in a ranking: neighbours who were called equal stand in one class."""

from collections.abc import Mapping

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.sorters.registry import Ranking


def with_ties_grouped(ranking: Ranking, told: Mapping[Pair, Preference]) -> Ranking:
    """Neighbours who were called equal become one class; the order within it stays."""
    groups: list[tuple[ItemId, ...]] = []
    for items in ranking:
        if groups and told.get((groups[-1][-1], items[0])) is Preference.TIE:
            groups[-1] += items
        else:
            groups.append(items)
    return tuple(groups)

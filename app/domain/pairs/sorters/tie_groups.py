"""Ties in a ranking: neighbours that were judged equal are in one class."""

from collections.abc import Mapping

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.sorters.ranking import Ranking


def with_ties_grouped(ranking: Ranking, verdicts: Mapping[Pair, Preference]) -> Ranking:
    """Merge neighbours that were judged equal into one class, keeping their order."""
    groups: list[tuple[ItemId, ...]] = []
    for items in ranking:
        if groups and verdicts.get((groups[-1][-1], items[0])) is Preference.TIE:
            groups[-1] += items
        else:
            groups.append(items)
    return tuple(groups)

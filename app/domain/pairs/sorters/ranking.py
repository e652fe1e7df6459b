"""The interface of a sorter: it yields pairs, is sent preferences, and returns classes of items.

All sorters except `buckets` return classes of one item, best class first.
"""

from collections.abc import Generator, Mapping, Sequence

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference

ItemClass = tuple[ItemId, ...]
Ranking = tuple[ItemClass, ...]
Sorter = Generator[Pair, Preference, Ranking]
Asks = Generator[Pair, Preference, None]


def singly(items: Sequence[ItemId]) -> Ranking:
    """Return each item as a class of its own."""
    return tuple((item,) for item in items)


def with_ties_grouped(ranking: Ranking, verdicts: Mapping[Pair, Preference]) -> Ranking:
    """Merge neighbours that were judged equal into one class, keeping their order."""
    groups: list[tuple[ItemId, ...]] = []
    for items in ranking:
        if groups and verdicts.get((groups[-1][-1], items[0])) is Preference.TIE:
            groups[-1] += items
        else:
            groups.append(items)
    return tuple(groups)

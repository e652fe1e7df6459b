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


def with_ties_grouped(
    ranking: Ranking, verdicts: Mapping[Pair, Preference], *, chained: bool = False
) -> Ranking:
    """Merge neighbours that were judged equal into one class, keeping their order.

    Ties are not transitive, so a class holds no pair of which one was preferred (complete link).
    If ``chained``, it may: stored logs were asked about pages added later by such classes.
    """
    groups: list[tuple[ItemId, ...]] = []
    for items in ranking:
        for index, item in enumerate(items):
            last = groups[-1] if groups else ()
            tied = index > 0 or verdicts.get((last[-1] if last else item, item)) is Preference.TIE
            apart = not chained and any(
                verdicts.get((other, item), Preference.TIE) is not Preference.TIE for other in last
            )
            if tied and not apart:
                groups[-1] += (item,)
            else:
                groups.append((item,))
    return tuple(groups)

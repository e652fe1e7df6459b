"""The interface of a sorter: it yields pairs, is sent preferences, and returns classes of items.

All sorters except `buckets` return classes of one item, best class first.
"""

from collections.abc import Generator, Sequence

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference

ItemClass = tuple[ItemId, ...]
Ranking = tuple[ItemClass, ...]
Sorter = Generator[Pair, Preference, Ranking]
Asks = Generator[Pair, Preference, None]


def singly(items: Sequence[ItemId]) -> Ranking:
    """Return each item as a class of its own."""
    return tuple((item,) for item in items)

"""The robust sorter in the terms of a session: items, preferences, and the rules of its plan."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import Conclusion
from topkapi.app.domain.pairs.robust.sorter import RobustSorter, Told
from topkapi.app.domain.pairs.sorters.registry import Ranking, heap_questions, singly
from topkapi.app.domain.pairs.sorters.tie_groups import with_ties_grouped


@dataclass(frozen=True, slots=True)
class Rules:
    """When to end, and how often a pair may be asked."""

    budget: int
    stop_at: float | None = None
    limit: int = 1


def open_sorter(n: int, k: int, rules: Rules, seed: str) -> RobustSorter:
    """A sorter at its beginning, whose draws are fixed by ``seed``."""
    number = draw_integer(seed, "robust")
    return RobustSorter(n, k, seed=number, span=heap_questions(n, k), limit=rules.limit)


def next_pair(sorter: RobustSorter, rules: Rules, asked: int) -> Pair | None:
    """The places to ask about after ``asked`` questions; None when it is time to conclude.

    The quick estimate is a little too hopeful, so an early end needs the careful one as well.
    """
    if asked >= rules.budget:
        return None
    good_enough = rules.stop_at is not None and sorter.quality() >= rules.stop_at
    if good_enough and sorter.conclude().quality >= (rules.stop_at or 0):
        return None
    return sorter.ask()


def ranking_of(
    conclusion: Conclusion, items: Sequence[ItemId], told: dict[Pair, Preference]
) -> Ranking:
    """The list as items, neighbours that were called equal in one class."""
    return with_ties_grouped(singly([items[place] for place in conclusion.ranking]), told)


def sampled_run(
    items: Sequence[ItemId], k: int, rules: Rules, *, seed: str
) -> Generator[Pair, Preference, tuple[Ranking, Conclusion]]:
    """Yields pairs, is sent preferences, returns the ranking and the conclusion behind it."""
    sorter = open_sorter(len(items), k, rules, seed)
    told: dict[Pair, Preference] = {}
    asked = 0
    while (places := next_pair(sorter, rules, asked)) is not None:
        pair = items[places[0]], items[places[1]]
        preference = yield pair
        asked += 1
        sorter.take(Told(places, preference))
        told[pair] = preference
        told[pair[1], pair[0]] = preference.swapped()
    conclusion = sorter.conclude()
    return ranking_of(conclusion, items, told), conclusion


def sampled_sort(
    items: Sequence[ItemId], k: int, rules: Rules, *, seed: str
) -> Generator[Pair, Preference, Ranking]:
    """The sorter as a generator like the others: it returns the ranking alone."""
    ranking, _ = yield from sampled_run(items, k, rules, seed=seed)
    return ranking

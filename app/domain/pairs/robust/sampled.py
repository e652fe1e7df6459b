"""Adapter from the robust sorter to sessions: items, preferences, and the rules of the plan."""

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import Conclusion
from topkapi.app.domain.pairs.robust.error_prior import ONE, ErrorPrior
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.pairs.sorters.ranking import Ranking, singly, with_ties_grouped


@dataclass(frozen=True, slots=True)
class Rules:
    """When to end, how often a pair may be asked, what the questions are for, and what is known.

    There are as many people as ``priors``; ``guide`` has a ranker's scores. Of the first
    ``started_with`` documents no two are compared.
    """

    budget: int
    stop_at: float | None = None
    limit: int = 1
    goal: Goal = Goal.ORDER
    priors: tuple[ErrorPrior, ...] = (ONE,)
    guide: tuple[float, ...] | None = None
    started_with: int = 0


def open_sorter(n: int, k: int, rules: Rules, seed: str) -> RobustSorter:
    """Return a new sorter whose draws are determined by ``seed``."""
    number = draw_integer(seed, "robust")
    return RobustSorter(
        n,
        k,
        seed=number,
        span=heap_questions(n, k),
        limit=rules.limit,
        goal=rules.goal,
        priors=rules.priors,
        guide=rules.guide,
        started_with=rules.started_with,
    )


def next_pair(
    sorter: RobustSorter,
    rules: Rules,
    asked: int,
    person: int = 0,
    open_elsewhere: Collection[Pair] = (),
) -> Pair | None:
    """Return the indices to ask ``person`` about after ``asked`` questions; None to conclude."""
    if asked >= rules.budget:
        return None
    if rules.stop_at is not None and sorter.may_stop_at(rules.stop_at):
        return None
    return sorter.ask(person, open_elsewhere)


def ranking_of(
    conclusion: Conclusion, items: Sequence[ItemId], verdicts: dict[Pair, Preference]
) -> Ranking:
    """Return the list as items, with neighbours that were judged equal in one class."""
    return with_ties_grouped(singly([items[index] for index in conclusion.ranking]), verdicts)


def sampled_run(
    items: Sequence[ItemId], k: int, rules: Rules, *, seed: str, swap: bool = False
) -> Generator[tuple[Pair, int], Preference, tuple[Ranking, Conclusion, RobustSorter]]:
    """Yield pairs and who is asked, receive preferences, and return ranking, conclusion and sorter.

    Those who are worth asking are asked in turn. With ``swap`` the better page is on either side
    for everybody in turn, as in a session.
    """
    sorter = open_sorter(len(items), k, rules, seed)
    verdicts: dict[Pair, Preference] = {}
    turns = [0] * len(rules.priors)
    while True:
        person = min(sorter.worth_asking(), key=lambda each: turns[each])
        indices = next_pair(sorter, rules, sum(turns), person)
        if indices is None:
            break
        if swap and turns[person] % 2:
            indices = indices[::-1]
        pair = items[indices[0]], items[indices[1]]
        preference = yield pair, person
        turns[person] += 1
        sorter.take(Answered(indices, preference, person))
        verdicts[pair] = preference
        verdicts[pair[1], pair[0]] = preference.swapped()
    conclusion = sorter.conclude()
    return ranking_of(conclusion, items, verdicts), conclusion, sorter


def sampled_sort(
    items: Sequence[ItemId], k: int, rules: Rules, *, seed: str
) -> Generator[Pair, Preference, Ranking]:
    """Run the sorter as a generator like the others, which returns only the ranking."""
    run = sampled_run(items, k, rules, seed=seed)
    pair, _ = next(run)
    while True:
        preference = yield pair
        try:
            pair, _ = run.send(preference)
        except StopIteration as stop:
            ranking: Ranking = stop.value[0]
            return ranking

"""Simulated sessions of the robust sorter. It loads NumPy."""

from collections.abc import Sequence

from topkapi.app.domain.pairs.answers import ItemId
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.simulated_assessors import Assessor


def play(
    people: Sequence[Assessor],
    items: Sequence[ItemId],
    k: int,
    rules: Rules,
    *,
    seed: str,
    swap: bool = False,
) -> tuple[RobustSorter, list[int]]:
    """Ask those who are worth asking in turn; return the sorter, and how often each was asked.

    With ``swap`` the better page is on either side for everybody in turn, as in a session.
    """
    sorter = RobustSorter(len(items), k, rules, seed)
    turns = [0] * len(people)
    while True:
        person = min(sorter.worth_asking(), key=turns.__getitem__)
        indices = sorter.next_pair(sum(turns), person)
        if indices is None:
            return sorter, turns
        if swap and turns[person] % 2:
            indices = indices[::-1]
        answer = people[person].prefer((items[indices[0]], items[indices[1]]))
        sorter.take(Answered(indices, answer, person))
        turns[person] += 1

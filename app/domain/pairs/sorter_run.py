"""Between the sorter and the person: what has been said, or follows from it, is not asked.

A contest is a generator like a sorter. It is given the answers recorded so far and takes from them
first, so that starting it again, without a page or without an answer, loses nothing.
"""

from collections.abc import Generator, Mapping, Sequence
from copy import copy
from typing import Self

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.inference import Closure
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorters.registry import SORTERS, Ranking
from topkapi.app.domain.pairs.sorters.tie_groups import with_ties_grouped

Recorded = Mapping[Pair, Sequence[Preference]]
SorterRun = Generator[Pair, Preference, Ranking]


def run_plan(plan: Plan, items: Sequence[ItemId], recorded: Recorded) -> SorterRun:
    """Run the plan's sorter over ``items``, asking what ``recorded`` and inference leave open.

    A sampled sorter weighs what it is told by itself: nothing is inferred for it.
    """
    if SORTERS[plan.sorter].sampled:
        from topkapi.app.domain.pairs.robust.sampled import sampled_sort
        from topkapi.app.domain.pairs.robust.strategy import (
            rules_of,  # NumPy, for those who need it
        )

        return sampled_sort(items, plan.k, rules_of(plan), seed=plan.seed)
    return run_sorter(plan, items, Memory(plan, recorded))


def run_sorter(plan: Plan, items: Sequence[ItemId], memory: "Memory") -> SorterRun:
    """Run the plan's sorter from where ``memory`` is, and keep ``memory`` up to date."""
    sort = SORTERS[plan.sorter].sort
    assert sort is not None, "a sampled sorter has a strategy of its own"
    sorter = sort(items, plan.k)
    try:
        pair = next(sorter)
        for verdict in memory.verdicts:
            pair = sorter.send(verdict)
        while True:
            decided = memory.known(pair)
            while decided is None:
                answer = memory.recorded(pair)
                if answer is None:
                    answer = yield pair
                    memory.use(sorted_pair(pair))
                decided = memory.hear(pair, answer)
            memory.verdicts.append(decided)
            pair = sorter.send(decided)
    except StopIteration as stop:
        ranking: Ranking = stop.value
    if plan.recheck:
        ranking = yield from _rechecked(ranking, plan, memory)
    return with_ties_grouped(ranking, memory.told)


class Memory:
    """What a run of the sorter has been told, and what is recorded for it to use first.

    ``verdicts`` are all that the sorter was sent, ``rechecks`` the answers of the passes at the
    end: a copy of the memory and a sorter sent the same again are a copy of the run.
    """

    def __init__(self, plan: Plan, recorded: Recorded) -> None:
        self._recorded = recorded
        self._used: dict[Pair, int] = {}
        self._best_of = plan.best_of
        self._votes = (0, 0, 0)  # for the first, for the second, all, on the pair being decided
        self._reuse = plan.reuse_answers or plan.infer_transitive
        self._closure = Closure() if plan.infer_transitive else None
        self.told: dict[Pair, Preference] = {}
        self.verdicts: list[Preference] = []
        self.rechecks: list[Preference] = []

    def copied(self) -> Self:
        """The same memory, to go on from by itself."""
        twin = copy(self)
        twin._used = dict(self._used)
        twin._closure = self._closure.copied() if self._closure is not None else None
        twin.told = dict(self.told)
        twin.verdicts = list(self.verdicts)
        twin.rechecks = list(self.rechecks)
        return twin

    def known(self, pair: Pair) -> Preference | None:
        """The answer that needs no asking, if there is one."""
        if not self._reuse:
            return None
        told = self.told.get(pair)
        if told is None and self._closure is not None and not self._recorded.get(sorted_pair(pair)):
            return self._closure.implied(pair)
        return told

    def recorded(self, pair: Pair) -> Preference | None:
        """The next recorded answer to the pair that this run has not used; it is used now."""
        key = sorted_pair(pair)
        said = self._recorded.get(key)
        if said is None or (number := self._used.get(key, 0)) >= len(said):
            return None
        self.use(key)
        return said[number] if key == pair else said[number].swapped()

    def use(self, key: Pair) -> None:
        """Count one more answer to the pair, which is in the order under which it is recorded."""
        self._used[key] = self._used.get(key, 0) + 1

    def hear(self, pair: Pair, answer: Preference) -> Preference | None:
        """Count an answer to the pair; the verdict, once it is asked as often as the plan wants."""
        if self._best_of > 1:
            first, second, asked = self._votes
            first += answer is Preference.FIRST
            second += answer is Preference.SECOND
            if max(first, second) <= self._best_of // 2 and asked + 1 < self._best_of:
                self._votes = first, second, asked + 1
                return None
            self._votes = (0, 0, 0)
            answer = _majority(first, second)
        self._remember(pair, answer)
        return answer

    def hear_again(self, pair: Pair, answer: Preference) -> None:
        """Take an answer of a pass at the end, which replaces what was said before."""
        self._remember(pair, answer)
        self.rechecks.append(answer)

    def _remember(self, pair: Pair, verdict: Preference) -> None:
        """Keep the verdict in both orders, and what follows from it."""
        self.told[pair] = verdict
        self.told[pair[1], pair[0]] = verdict.swapped()
        if self._closure is not None:
            self._closure.add(pair, verdict)


def _majority(first: int, second: int) -> Preference:
    if first == second:
        return Preference.TIE
    return Preference.FIRST if first > second else Preference.SECOND


def sorted_pair(pair: Pair) -> Pair:
    """The pair in the order under which its answers are recorded."""
    return pair if pair[0] < pair[1] else (pair[1], pair[0])


def _rechecked(ranking: Ranking, plan: Plan, memory: Memory) -> SorterRun:
    """Ask adjacent winners once more, from foot to head; swap those told the other way."""
    classes = list(ranking)
    before = iter(tuple(memory.rechecks))
    for _ in range(plan.recheck):
        for upper in range(min(plan.k, len(classes)) - 2, -1, -1):
            pair = classes[upper][0], classes[upper + 1][0]
            verdict = next(before, None)
            if verdict is None:
                verdict = memory.recorded(pair)
                if verdict is None:
                    verdict = yield pair
                    memory.use(sorted_pair(pair))
                memory.hear_again(pair, verdict)
            if verdict is Preference.SECOND:
                classes[upper], classes[upper + 1] = classes[upper + 1], classes[upper]
    return tuple(classes)

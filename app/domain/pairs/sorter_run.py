"""Runs of a sorter: a pair whose answer is recorded or implied is not asked again.

A sorter run is a generator like a sorter. It uses the answers recorded so far first, so
restarting it after the removal of a page or an undo loses nothing.
"""

from collections.abc import Generator, Mapping, Sequence
from copy import copy
from typing import Self

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.inference import Closure
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorters.insertion import inserted
from topkapi.app.domain.pairs.sorters.ranking import Ranking, Sorter, with_ties_grouped
from topkapi.app.domain.pairs.sorters.registry import SORTERS

Recorded = Mapping[Pair, Sequence[Preference]]
SorterRun = Generator[Pair, Preference, Ranking]


def run_plan(plan: Plan, items: Sequence[ItemId], recorded: Recorded) -> SorterRun:
    """Run the plan's sorter over ``items``, asking pairs neither recorded nor inferred.

    Sampled sorters have strategies of their own.
    """
    return run_sorter(plan, items, Memory(plan, recorded))


def run_sorter(plan: Plan, items: Sequence[ItemId], memory: "Memory") -> SorterRun:
    """Run the plan's sorter from the state of ``memory``, and update ``memory``."""
    sort = SORTERS[plan.sorter].sort
    assert sort is not None, "a sampled sorter has a strategy of its own"
    added = frozenset(plan.order[plan.started_with :]) if plan.started_with else frozenset()
    first = [item for item in items if item not in added]
    ranking = yield from _sorted(sort(first, plan.k), memory, memory.verdicts)
    if plan.recheck:
        ranking = yield from _rechecked(ranking, plan, memory)
    if added:
        later = [item for item in items if item in added]
        found = with_ties_grouped(ranking, memory.latest, chained=True)
        ranking = yield from _sorted(inserted(found, later, plan.k), memory, memory.inserting)
    return with_ties_grouped(ranking, memory.latest)


def _sorted(sorter: Sorter, memory: "Memory", verdicts: list[Preference]) -> SorterRun:
    """Run a sorter after the ``verdicts`` that it was sent before, and append further ones."""
    try:
        pair = next(sorter)
        for verdict in verdicts:
            pair = sorter.send(verdict)
        while True:
            decided = memory.known(pair)
            while decided is None:
                answer = memory.recorded(pair)
                if answer is None:
                    answer = yield pair
                    memory.use(sorted_pair(pair))
                decided = memory.add_answer(pair, answer)
            verdicts.append(decided)
            pair = sorter.send(decided)
    except StopIteration as stop:
        ranking: Ranking = stop.value
        return ranking


class Memory:
    """State of a sorter run: the verdicts so far, and the recorded answers to use first.

    ``verdicts`` are all values sent to the sorter, ``rechecks`` the answers of the passes at the
    end, ``inserting`` the verdicts on pages that were added later: a copy of the memory and a new
    sorter sent the same values are a copy of the run.
    ``latest`` is the last verdict per pair, in both orders.
    """

    def __init__(self, plan: Plan, recorded: Recorded) -> None:
        self._recorded = recorded
        self._used: dict[Pair, int] = {}
        self._best_of = plan.best_of
        self._votes = (0, 0, 0)  # for the first, for the second, all, on the pair being decided
        self._reuse = plan.reuse_answers or plan.infer_transitive
        self._closure = Closure() if plan.infer_transitive else None
        self.latest: dict[Pair, Preference] = {}
        self.verdicts: list[Preference] = []
        self.rechecks: list[Preference] = []
        self.inserting: list[Preference] = []

    def copied(self) -> Self:
        """Return an independent copy."""
        twin = copy(self)
        twin._used = dict(self._used)
        twin._closure = self._closure.copied() if self._closure is not None else None
        twin.latest = dict(self.latest)
        twin.verdicts = list(self.verdicts)
        twin.rechecks = list(self.rechecks)
        twin.inserting = list(self.inserting)
        return twin

    def known(self, pair: Pair) -> Preference | None:
        """Return the verdict on the pair if it is known or implied, else None."""
        if not self._reuse:
            return None
        verdict = self.latest.get(pair)
        if verdict is not None or self._closure is None or self._recorded.get(sorted_pair(pair)):
            return verdict
        return self._closure.implied(pair)

    def recorded(self, pair: Pair) -> Preference | None:
        """Return the next unused recorded answer to the pair and mark it used."""
        key = sorted_pair(pair)
        answers = self._recorded.get(key)
        if answers is None or (number := self._used.get(key, 0)) >= len(answers):
            return None
        self.use(key)
        return answers[number] if key == pair else answers[number].swapped()

    def use(self, key: Pair) -> None:
        """Count one more used answer to the pair ``key``, which is in recorded order."""
        self._used[key] = self._used.get(key, 0) + 1

    def add_answer(self, pair: Pair, answer: Preference) -> Preference | None:
        """Add an answer to the pair; return the verdict once there are enough answers."""
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

    def add_recheck(self, pair: Pair, answer: Preference) -> None:
        """Add the answer of a pass at the end, which replaces the earlier verdict."""
        self._remember(pair, answer)
        self.rechecks.append(answer)

    def _remember(self, pair: Pair, verdict: Preference) -> None:
        """Store the verdict in both orders, and update the closure."""
        self.latest[pair] = verdict
        self.latest[pair[1], pair[0]] = verdict.swapped()
        if self._closure is not None:
            self._closure.add(pair, verdict)


def _majority(first: int, second: int) -> Preference:
    if first == second:
        return Preference.TIE
    return Preference.FIRST if first > second else Preference.SECOND


def sorted_pair(pair: Pair) -> Pair:
    """Return the pair in the order in which its answers are recorded."""
    return pair if pair[0] < pair[1] else (pair[1], pair[0])


def _rechecked(ranking: Ranking, plan: Plan, memory: Memory) -> SorterRun:
    """Ask adjacent winners again, from last to first; swap those answered in reverse."""
    classes = list(ranking)
    earlier = iter(tuple(memory.rechecks))
    for _ in range(plan.recheck):
        for upper in range(min(plan.k, len(classes)) - 2, -1, -1):
            pair = classes[upper][0], classes[upper + 1][0]
            verdict = next(earlier, None)
            if verdict is None:
                verdict = memory.recorded(pair)
                if verdict is None:
                    verdict = yield pair
                    memory.use(sorted_pair(pair))
                memory.add_recheck(pair, verdict)
            if verdict is Preference.SECOND:
                classes[upper], classes[upper + 1] = classes[upper + 1], classes[upper]
    return tuple(classes)

"""Between the sorter and the person: what has been said, or follows from it, is not asked.

A contest is a generator like a sorter. It is given the answers recorded so far and takes from them
first, so that starting it again, without a page or without an answer, loses nothing.
"""

from collections.abc import Generator, Mapping, Sequence

from app.domain.answers import ItemId, Pair, Preference
from app.domain.grouping import with_ties_grouped
from app.domain.inference import Closure
from app.domain.plan import Plan
from app.domain.sorting import SORTERS, Ranking

Recorded = Mapping[Pair, Sequence[Preference]]
Contest = Generator[Pair, Preference, Ranking]
Verdict = Generator[Pair, Preference, Preference]


def contest(plan: Plan, items: Sequence[ItemId], recorded: Recorded) -> Contest:
    """Run the plan's sorter over ``items``, asking what ``recorded`` and inference leave open.

    A sampled sorter weighs what it is told by itself: nothing is inferred for it.
    """
    if SORTERS[plan.sorter].sampled:
        from app.domain.robust.course import rules_of  # NumPy, for those who need it
        from app.domain.robust.sampled import sampled_sort

        return (yield from sampled_sort(items, plan.k, rules_of(plan), seed=plan.seed))
    memory = _Memory(plan, recorded)
    sorter = SORTERS[plan.sorter].sort(items, plan.k)
    try:
        pair = next(sorter)
        while True:
            verdict = memory.known(pair)
            if verdict is None:
                verdict = yield from memory.decide(pair)
            pair = sorter.send(verdict)
    except StopIteration as stop:
        ranking: Ranking = stop.value
    if plan.recheck:
        ranking = yield from _rechecked(ranking, plan, memory)
    return with_ties_grouped(ranking, memory.told)


class _Memory:
    """What this run of the sorter has been told, and what is recorded for it to use first."""

    def __init__(self, plan: Plan, recorded: Recorded) -> None:
        self._recorded = recorded
        self._used: dict[Pair, int] = {}
        self._majority = plan.best_of // 2 + 1
        self._best_of = plan.best_of
        self._reuse = plan.reuse_answers or plan.infer_transitive
        self._closure = Closure() if plan.infer_transitive else None
        self.told: dict[Pair, Preference] = {}

    def known(self, pair: Pair) -> Preference | None:
        """The answer that needs no asking, if there is one."""
        if not self._reuse:
            return None
        told = self.told.get(pair)
        if told is None and self._closure is not None and not self._recorded.get(sorted_pair(pair)):
            return self._closure.implied(pair)
        return told

    def decide(self, pair: Pair) -> Verdict:
        """Ask the pair, as often as the plan wants it asked, and remember the majority."""
        first = second = 0
        verdict = Preference.TIE
        for _ in range(self._best_of):
            answer = yield from self.ask(pair)
            first += answer is Preference.FIRST
            second += answer is Preference.SECOND
            if max(first, second) >= self._majority:
                break
        if first != second:
            verdict = Preference.FIRST if first > second else Preference.SECOND
        self.remember(pair, verdict)
        return verdict

    def ask(self, pair: Pair) -> Verdict:
        """The next recorded answer to the pair that this run has not used, else the person's."""
        key = sorted_pair(pair)
        number = self._used.get(key, 0)
        self._used[key] = number + 1
        said = self._recorded.get(key, ())
        if number < len(said):
            return said[number] if key == pair else said[number].swapped()
        answer = yield pair
        return answer

    def remember(self, pair: Pair, verdict: Preference) -> None:
        """Keep the verdict in both orders, and what follows from it."""
        self.told[pair] = verdict
        self.told[pair[1], pair[0]] = verdict.swapped()
        if self._closure is not None:
            self._closure.add(pair, verdict)


def sorted_pair(pair: Pair) -> Pair:
    """The pair in the order under which its answers are recorded."""
    return pair if pair[0] < pair[1] else (pair[1], pair[0])


def _rechecked(ranking: Ranking, plan: Plan, memory: _Memory) -> Contest:
    """Ask adjacent winners once more, from foot to head; swap those told the other way."""
    classes = list(ranking)
    for _ in range(plan.recheck):
        for upper in range(min(plan.k, len(classes)) - 2, -1, -1):
            pair = classes[upper][0], classes[upper + 1][0]
            verdict = yield from memory.ask(pair)
            memory.remember(pair, verdict)
            if verdict is Preference.SECOND:
                classes[upper], classes[upper + 1] = classes[upper + 1], classes[upper]
    return tuple(classes)

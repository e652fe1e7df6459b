"""The strategy of a sorter that the answers decide: its run, kept alive between answers."""

from collections.abc import Sequence
from copy import copy

from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair, Preference, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorter_run import (
    Memory,
    Recorded,
    SorterRun,
    run_plan,
    run_sorter,
    sorted_pair,
)
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step


class SorterStrategy:
    """A sorter that is decided by the answers: its contest, kept alive between them."""

    sampled = False
    nbytes = 0

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._restart(())

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Hand the answer to the contest; a page taken out begins it again."""
        if judgment.removed is not None:
            self._restart(done)
        elif judgment.kind is QuestionKind.SORT:
            assert isinstance(self._step, AskPair)
            self._advance(as_asked(judgment, self._step.pair))

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Begin the contest again, unless it never heard of the answer."""
        if judgment.kind is QuestionKind.SORT or judgment.removed is not None:
            self._restart(done)

    def step(self) -> Step:
        """Where the contest stands."""
        return self._step

    def left(self) -> int | None:
        """Unknown: it depends on answers to come."""
        return None

    def quality(self) -> float | None:
        """Unknown: every answer is believed."""
        return None

    def fork(self) -> "SorterStrategy":
        """A strategy with a copy of the memory; its contest begins when an answer wants it."""
        twin = copy(self)
        twin._memory = self._memory.copied()
        twin._run = None
        return twin

    def _restart(self, done: Sequence[Judgment]) -> None:
        """Begin again with the answers that stand."""
        self._items, recorded = _what_stands(self._plan, done)
        self._memory = Memory(self._plan, recorded)
        self._run: SorterRun | None = run_sorter(self._plan, self._items, self._memory)
        self._advance(None)

    def _resume(self) -> SorterRun:
        """A contest brought to where the memory is."""
        running = run_sorter(self._plan, self._items, self._memory)
        next(running)
        self._run = running
        return running

    def _advance(self, preference: Preference | None) -> None:
        running = self._run or self._resume()
        try:
            pair = next(running) if preference is None else running.send(preference)
            self._step: Step = AskPair(pair)
        except StopIteration as stop:
            self._step = Done(stop.value)


def sorter_run_after(plan: Plan, done: Sequence[Judgment]) -> SorterRun:
    """The contest begun anew: it knows the answers that stand, and not the pages they take out."""
    return run_plan(plan, *_what_stands(plan, done))


def _what_stands(plan: Plan, done: Sequence[Judgment]) -> tuple[list[ItemId], Recorded]:
    """The pages that no answer takes out, and the sorting answers by pair."""
    removed: set[ItemId | None] = set()
    recorded: dict[Pair, list[Preference]] = {}
    for judgment in done:
        if not judgment.answer.is_preference:
            removed.add(judgment.removed)
        elif judgment.kind is QuestionKind.SORT:
            pair = sorted_pair((judgment.left, judgment.right))
            recorded.setdefault(pair, []).append(as_asked(judgment, pair))
    return [item for item in plan.order if item not in removed], recorded


def as_asked(judgment: Judgment, pair: Pair) -> Preference:
    """The answer as a statement about ``pair`` rather than about left and right."""
    preference = judgment.answer.preference()
    return preference if judgment.left == pair[0] else preference.swapped()

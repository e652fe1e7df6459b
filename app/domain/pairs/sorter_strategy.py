"""The strategy of a deterministic sorter: its run, kept in memory between answers."""

from collections.abc import Sequence
from copy import copy

from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair, Preference, QuestionKind
from topkapi.app.domain.pairs.confidence import ErrorWeights
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
    """A deterministic sorter: its run, kept in memory between answers."""

    sampled = False
    nbytes = 0

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._restart(())

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Send the answer to the sorter run; the removal of a page restarts it."""
        if judgment.removed is not None:
            self._restart(done)
        elif judgment.kind is QuestionKind.SORT:
            assert isinstance(self._step, AskPair)
            self._advance(as_asked(judgment, self._step.pair))

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Restart the sorter run, unless it did not use the answer."""
        if judgment.kind is QuestionKind.SORT or judgment.removed is not None:
            self._restart(done)

    def step(self) -> Step:
        """Return the next pair of the sorter run, or its ranking."""
        return self._step

    def left(self) -> int | None:
        """Return None: the number depends on future answers."""
        return None

    def quality(self) -> float | None:
        """Return None: every answer is taken as correct."""
        return None

    def use_prior(self, prior: ErrorWeights) -> None:
        """Ignore ``prior``: every answer is taken as correct."""

    def fork(self) -> "SorterStrategy":
        """Return a copy; its sorter run starts with the next answer."""
        twin = copy(self)
        twin._memory = self._memory.copied()
        twin._run = None
        return twin

    def _restart(self, done: Sequence[Judgment]) -> None:
        """Restart the sorter run with the effective answers."""
        self._items, recorded = _remaining_and_recorded(self._plan, done)
        self._memory = Memory(self._plan, recorded)
        self._run: SorterRun | None = run_sorter(self._plan, self._items, self._memory)
        self._advance(None)

    def _resume(self) -> SorterRun:
        """Start a sorter run and bring it to the state of the memory."""
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
    """Start a sorter run with the effective answers, without the removed pages."""
    return run_plan(plan, *_remaining_and_recorded(plan, done))


def _remaining_and_recorded(plan: Plan, done: Sequence[Judgment]) -> tuple[list[ItemId], Recorded]:
    """Return the pages that are not removed, and the sorting answers by pair."""
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
    """Return the answer as a preference within ``pair`` instead of left and right."""
    preference = judgment.answer.preference()
    return preference if judgment.left == pair[0] else preference.swapped()


class PairListStrategy:
    """Asks the pairs of a plan in order, without those of a page that was removed.

    Its ranking is empty: the answers are votes about pairs, and make no list.
    """

    sampled = False
    nbytes = 0

    def __init__(self, plan: Plan) -> None:
        self._pairs = plan.pairs
        self._left: tuple[Pair, ...] = plan.pairs

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Leave out the answered pair, and the pairs of a removed page."""
        del judgment
        self._left = _unanswered(self._pairs, done)

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Compute the pairs left again."""
        self.take(judgment, done)

    def step(self) -> Step:
        """Return the next pair, or an empty ranking."""
        return AskPair(self._left[0]) if self._left else Done(())

    def left(self) -> int | None:
        """Return the number of pairs left."""
        return len(self._left)

    def quality(self) -> float | None:
        """Return None: there is no list."""
        return None

    def use_prior(self, prior: ErrorWeights) -> None:
        """Ignore ``prior``: the pairs are fixed."""

    def fork(self) -> "PairListStrategy":
        """Return an independent copy."""
        return copy(self)


def _unanswered(pairs: Sequence[Pair], done: Sequence[Judgment]) -> tuple[Pair, ...]:
    answered = {sorted_pair((judgment.left, judgment.right)) for judgment in done}
    removed: set[ItemId | None] = {judgment.removed for judgment in done}
    return tuple(
        pair for pair in pairs if sorted_pair(pair) not in answered and not removed & set(pair)
    )

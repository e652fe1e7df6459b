"""The strategy of an adjudication: a fixed list of pairs, each asked once."""

from collections.abc import Sequence
from copy import copy

from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair
from topkapi.app.domain.pairs.confidence import ErrorModel
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.sorter_run import sorted_pair
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step


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

    def use_prior(self, prior: ErrorModel) -> None:
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

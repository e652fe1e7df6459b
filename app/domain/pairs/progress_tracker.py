"""Progress of a session, whatever its sorter: when each page was shown first."""

from copy import copy
from typing import Self

from topkapi.app.domain.pairs.answers import Answer, ItemId, Judgment, Pair, QuestionKind


class ProgressTracker:
    """For every number of distinct pages shown, the count of sorting answers at that point.

    The data are stacks, so that undoing an answer costs as little as adding one. ``estimates``
    holds what was promised so far, as (answers, questions left as shown, as estimated).
    """

    def __init__(self) -> None:
        self._met: set[ItemId] = set()
        self._new: list[tuple[ItemId, ...]] = []
        self.ties = [0]  # among the first 0, 1, 2, ... sorting answers
        self.reached: list[int] = []
        self.sorted = 0
        self.estimates: list[tuple[int, float, int]] = []

    def copied(self) -> Self:
        """Return an independent copy."""
        twin = copy(self)
        twin._met = set(self._met)
        twin._new = list(self._new)
        twin.ties = list(self.ties)
        twin.reached = list(self.reached)
        twin.estimates = list(self.estimates)
        return twin

    def note(self, judgment: Judgment) -> None:
        """Count one more effective answer; a check shows no new page."""
        if judgment.kind is QuestionKind.SORT:
            self.meet((judgment.left, judgment.right), tied=judgment.answer is Answer.TIE)

    def meet(self, pair: Pair, *, tied: bool) -> None:
        """Count one more sorting answer about ``pair``."""
        new = tuple(item for item in pair if item not in self._met)
        self.sorted += 1
        self._met.update(new)
        self._new.append(new)
        self.ties.append(self.ties[-1] + tied)
        self.reached.extend(self.sorted for _ in new)

    def forget_last(self, judgment: Judgment) -> None:
        """Revert the last counted answer."""
        if judgment.kind is not QuestionKind.SORT:
            return
        new = self._new.pop()
        self._met.difference_update(new)
        if new:
            del self.reached[-len(new) :]
        self.sorted -= 1
        self.ties.pop()
        while self.estimates and self.estimates[-1][0] > self.sorted:
            self.estimates.pop()

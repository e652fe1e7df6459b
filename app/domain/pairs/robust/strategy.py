"""The strategy of a session whose sorter is `robust`.

The chains follow the answers only when a question or a conclusion is wanted: a session resumed with
its stored question costs nothing until the next answer.
"""

from collections import Counter
from collections.abc import Sequence
from copy import copy

from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair, Preference, QuestionKind
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import Conclusion
from topkapi.app.domain.pairs.robust.page_confidence import confidence_from
from topkapi.app.domain.pairs.robust.sampled import Rules, next_pair, open_sorter, ranking_of
from topkapi.app.domain.pairs.robust.sorter import Event, Removed, RobustSorter, Told
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step


def rules_of(plan: Plan) -> Rules:
    """The rules a plan sets."""
    return Rules(plan.most_questions, plan.stop_at, plan.pair_limit)


class RobustStrategy:
    """Answers, and a sorter that is told them when it is needed; checks are told it as well."""

    sampled = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rules = rules_of(plan)
        self._place = {item: place for place, item in enumerate(plan.order)}
        self._heard: list[Judgment] = []
        self._asked = 0
        self._sorter: RobustSorter | None = None
        self._agreed = 0  # answers that the sorter was told and that still stand

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Hear an answer."""
        self._heard.append(judgment)
        self._asked += judgment.kind is QuestionKind.SORT
        assert len(self._heard) == len(done)

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Forget the answer heard last."""
        self._heard.pop()
        self._asked -= judgment.kind is QuestionKind.SORT
        self._agreed = min(self._agreed, len(done))

    def step(self) -> Step:
        """The pair that would settle most, or the list when the rules say that it is time."""
        if self._asked < self._rules.budget:
            places = next_pair(self._caught_up(), self._rules, self._asked)
            if places is not None:
                pair = self._plan.order[places[0]], self._plan.order[places[1]]
                return AskPair(pair, self.quality())
        return self._end()

    def _end(self) -> Done:
        found, plan = self.conclude(), self._plan
        ranking = ranking_of(found, plan.order, self._told())
        listed = [item for items in ranking for item in items][: plan.k]
        return Done(ranking, confidence_from(found, plan, self._heard, listed))

    def conclude(self) -> Conclusion:
        """The list the answers make most probable, with its certainty; places, not items."""
        return self._caught_up().conclude()

    def left(self) -> int | None:
        """What is left of the budget, or of the pairs that may still be asked."""
        out = {item for judgment in self._heard if (item := judgment.removed) is not None}
        n = len(self._plan.order) - len(out)
        asked = Counter(
            frozenset((judgment.left, judgment.right))
            for judgment in self._heard
            if judgment.answer.is_preference and not {judgment.left, judgment.right} & out
        )
        limit = self._plan.pair_limit
        pairs = limit * n * (n - 1) // 2 - sum(min(limit, times) for times in asked.values())
        return max(0, min(self._rules.budget - self._asked, pairs))

    def quality(self) -> float | None:
        """The expected kappa-NDCG of the list, if the plan ends at some quality."""
        return None if self._rules.stop_at is None else round(self._caught_up().quality(), 4)

    def fork(self) -> "RobustStrategy":
        """A strategy at the same place with chains of its own."""
        twin = copy(self)
        twin._heard = list(self._heard)
        twin._sorter = self._caught_up().fork()
        return twin

    @property
    def nbytes(self) -> int:
        """The bytes of the sorter, if there is one."""
        return 0 if self._sorter is None else self._sorter.nbytes

    def _caught_up(self) -> RobustSorter:
        """The sorter, told every answer that stands."""
        if self._sorter is None:
            plan = self._plan
            self._sorter = open_sorter(len(plan.order), plan.k, self._rules, plan.seed)
        if len(self._sorter.steps) > self._agreed:
            self._sorter.rewind(self._agreed)
        for judgment in self._heard[self._agreed :]:
            self._sorter.take(self._step(judgment))
        self._agreed = len(self._heard)
        return self._sorter

    def _step(self, judgment: Judgment) -> Event:
        if (item := judgment.removed) is not None:
            return Removed(self._place[item])
        pair = self._place[judgment.left], self._place[judgment.right]
        return Told(pair, judgment.answer.preference())

    def _told(self) -> dict[Pair, Preference]:
        """What was said last about each pair, in both orders."""
        told: dict[tuple[ItemId, ItemId], Preference] = {}
        for judgment in self._heard:
            if judgment.answer.is_preference:
                preference = judgment.answer.preference()
                told[judgment.left, judgment.right] = preference
                told[judgment.right, judgment.left] = preference.swapped()
        return told

"""The strategy of a session whose sorter is `robust`.

The posterior is updated only when a question or a conclusion is needed: a session resumed with its
stored question costs nothing until the next answer.
"""

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Self

import numpy as np

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair, Preference, QuestionKind
from topkapi.app.domain.pairs.confidence import ErrorWeights
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, confidence_from
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior, usual_priors
from topkapi.app.domain.pairs.robust.sampled import Rules, next_pair, open_sorter, ranking_of
from topkapi.app.domain.pairs.robust.sorter import Answered, Event, Removed, RobustSorter
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step


def rules_of(plan: Plan) -> Rules:
    """Return the rules of a plan."""
    rules = Rules(plan.most_questions, plan.stop_at, plan.pair_limit, Goal(plan.goal))
    return replace(rules, guide=plan.guide or None, started_with=plan.started_with)


class RobustStrategy:
    """The answers, including checks, and a sorter that is updated with them on demand."""

    sampled = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rules = rules_of(plan)
        self._index = {item: index for index, item in enumerate(plan.order)}
        self._answers: list[Judgment] = []
        self._asked = 0
        self._sorter: RobustSorter | None = None
        self._applied = 0  # effective answers that the sorter has taken

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Add an answer."""
        self._answers.append(judgment)
        self._asked += judgment.kind is QuestionKind.SORT
        assert len(self._answers) == len(done)

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Remove the last answer."""
        self._answers.pop()
        self._asked -= judgment.kind is QuestionKind.SORT
        self._applied = min(self._applied, len(done))

    def step(self) -> Step:
        """Return the most informative pair, or the list when the rules end the session."""
        if self._asked < self._rules.budget:
            indices = next_pair(self._caught_up(), self._rules, self._asked)
            if indices is not None:
                pair = self._plan.order[indices[0]], self._plan.order[indices[1]]
                return AskPair(pair, self.quality())
        return self._end(self.conclude())

    def _end(self, found: Conclusion) -> Done:
        """Return the list that follows from people's answers alone, and how sure it is."""
        plan = self._plan
        people = self._without_guide() if plan.guide else found
        ranking = ranking_of(people, plan.order, self._latest_preferences())
        listed = [item for items in ranking for item in items][: plan.k]
        confidence = confidence_from(found, plan, self._answers, listed)
        if plan.guide:
            alone = confidence_from(people, plan, self._answers, listed).kappa_ndcg
            confidence = replace(confidence, without_prior=alone)
        return Done(ranking, confidence)

    def _without_guide(self) -> Conclusion:
        """Return what the same answers say without a ranker's scores."""
        return self._with(replace(self._rules, guide=None)).conclude()

    def _with(self, rules: Rules) -> Self:
        """Return the same answers under other rules."""
        twin = copy(self)
        twin._rules, twin._sorter, twin._applied = rules, None, 0
        return twin

    def evidence(self) -> list[list[float]]:
        """Return the log evidence about each person's errors, to store with finished work.

        It starts from the general prior: under a learned one little is said about other errors.
        """
        rules = replace(self._rules, priors=usual_priors(len(self._rules.priors)))
        found = self._with(rules)._caught_up().evidence()
        return [np.round(each - each.max(), 2).tolist() for each in found]

    def conclude(self) -> Conclusion:
        """Return the most probable list and the confidence in it, by index, not item."""
        return self._caught_up().conclude()

    def left(self) -> int | None:
        """Return what is left of the budget, or of the pairs that may still be asked."""
        removed = {item for judgment in self._answers if (item := judgment.removed) is not None}
        n = len(self._plan.order) - len(removed)
        asked = Counter(
            frozenset((judgment.left, judgment.right))
            for judgment in self._answers
            if judgment.answer.is_preference and not {judgment.left, judgment.right} & removed
        )
        limit = self._plan.pair_limit
        pairs = limit * n * (n - 1) // 2 - sum(min(limit, times) for times in asked.values())
        return max(0, min(self._rules.budget - self._asked, pairs))

    def quality(self) -> float | None:
        """Return the expected quality of the list, if the plan stops at some quality."""
        return None if self._rules.stop_at is None else round(self._caught_up().quality(), 4)

    def use_prior(self, prior: ErrorWeights) -> None:
        """Start from ``prior``; what has started is started again."""
        self._rules = replace(self._rules, priors=(ErrorPrior.of(prior),))
        self._sorter, self._applied = None, 0

    def fork(self) -> "RobustStrategy":
        """Return an independent copy with its own posterior."""
        twin = copy(self)
        twin._answers = list(self._answers)
        twin._sorter = self._caught_up().fork()
        return twin

    @property
    def nbytes(self) -> int:
        """The bytes of the sorter, if there is one."""
        return 0 if self._sorter is None else self._sorter.nbytes

    def _caught_up(self) -> RobustSorter:
        """Return the sorter, updated with every effective answer."""
        self._sorter = self._sorter or self._opened()
        if len(self._sorter.steps) > self._applied:
            self._sorter.rewind(self._applied)
        for judgment in self._answers[self._applied :]:
            self._sorter.take(self._step(judgment))
        self._applied = len(self._answers)
        return self._sorter

    def _opened(self) -> RobustSorter:
        plan = self._plan
        return open_sorter(len(plan.order), plan.k, self._rules, plan.seed)

    def _step(self, judgment: Judgment) -> Event:
        if (item := judgment.removed) is not None:
            return Removed(self._index[item])
        pair = self._index[judgment.left], self._index[judgment.right]
        return Answered(pair, judgment.answer.preference())

    def _latest_preferences(self) -> dict[Pair, Preference]:
        """Return the last preference for each pair, in both orders."""
        latest: dict[tuple[ItemId, ItemId], Preference] = {}
        for judgment in self._answers:
            if judgment.answer.is_preference:
                preference = judgment.answer.preference()
                latest[judgment.left, judgment.right] = preference
                latest[judgment.right, judgment.left] = preference.swapped()
        return latest

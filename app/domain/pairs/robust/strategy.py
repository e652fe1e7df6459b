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
from topkapi.app.domain.pairs.robust.error_prior import GENERAL, ErrorPrior
from topkapi.app.domain.pairs.robust.sorter import Answered, Event, Removed, RobustSorter, Rules
from topkapi.app.domain.pairs.sorters.ranking import singly, with_ties_grouped
from topkapi.app.domain.pairs.strategy import AskPair, Done, Step


def rules_of(plan: Plan) -> Rules:
    """Return the rules of a plan."""
    rules = Rules(plan.most_questions, plan.stop_at, plan.pair_limit, Goal(plan.goal))
    return replace(rules, guide=plan.guide or None, started_with=plan.started_with)


class RobustStrategy:
    """The answers, including checks, and a sorter that is updated with them on demand.

    The answers are those of one person, or of the members of a team (`TeamStrategy`).
    """

    sampled = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rules = rules_of(plan)
        self._index = {item: index for index, item in enumerate(plan.order)}
        self._answers: list[Judgment] = []
        self._members: list[int] = []  # whose each answer is
        self._me = 0
        self._sorter: RobustSorter | None = None

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:  # noqa: ARG002 (of every strategy)
        """Add an answer of this person."""
        self._answers.append(judgment)
        self._members.append(self._me)

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:  # noqa: ARG002 (of every strategy)
        """Remove the last answer of this person."""
        last = len(self._members) - 1 - self._members[::-1].index(self._me)
        assert self._answers[last] == judgment
        del self._answers[last], self._members[last]

    @property
    def _asked(self) -> int:
        """The number of questions that count for the budget."""
        return sum(each.kind is QuestionKind.SORT for each in self._answers)

    def step(self) -> Step:
        """Return the most informative pair, or the list when the rules end the session."""
        indices = self._caught_up().next_pair(self._asked)
        return self._end(self.conclude()) if indices is None else self._question(indices)

    def _question(self, indices: Pair) -> AskPair:
        pair = self._plan.order[indices[0]], self._plan.order[indices[1]]
        return AskPair(pair, self.quality())

    def _end(self, found: Conclusion) -> Done:
        """Return the list that follows from people's answers alone, and how sure it is."""
        plan = self._plan
        people = self._with(replace(self._rules, guide=None)).conclude() if plan.guide else found
        best = singly([plan.order[index] for index in people.ranking])
        ranking = with_ties_grouped(best, self._latest_preferences())
        listed = [item for items in ranking for item in items][: plan.k]
        confidence = confidence_from(found, plan, self._answers, listed)
        if plan.guide:
            alone = confidence_from(people, plan, self._answers, listed).kappa_ndcg
            confidence = replace(confidence, without_prior=alone)
        return Done(ranking, confidence)

    def _with(self, rules: Rules) -> Self:
        """Return the same answers under other rules."""
        twin = copy(self)
        twin._rules, twin._sorter = rules, None
        return twin

    def evidence(self) -> list[list[float]]:
        """Return the log evidence about each person's errors, to store with finished work.

        It starts from the general prior: under a learned one little is said about other errors.
        """
        rules = replace(self._rules, priors=(GENERAL,) * len(self._rules.priors))
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
        """Start from a prior of this person; what has started is started again."""
        priors = list(self._rules.priors)
        priors[self._me] = ErrorPrior.of(prior)
        self._use_priors(priors)

    def _use_priors(self, priors: Sequence[ErrorPrior]) -> None:
        if tuple(priors) != self._rules.priors:
            self._rules, self._sorter = replace(self._rules, priors=tuple(priors)), None

    def fork(self) -> Self:
        """Return an independent copy with its own posterior."""
        twin = copy(self)
        twin._answers, twin._members = list(self._answers), list(self._members)
        twin._sorter = self._caught_up().fork()
        return twin

    @property
    def nbytes(self) -> int:
        """The bytes of the sorter, if there is one."""
        return 0 if self._sorter is None else self._sorter.nbytes

    def _caught_up(self) -> RobustSorter:
        """Return the sorter, rewound to the answers that it shares with these, and updated."""
        plan, events = self._plan, self._events()
        if self._sorter is None:
            self._sorter = RobustSorter(len(plan.order), plan.k, self._rules, plan.seed)
        steps = self._sorter.steps
        pairs = enumerate(zip(steps, events, strict=False))
        differing = (number for number, (one, other) in pairs if one != other)
        shared = next(differing, min(len(steps), len(events)))
        if shared < len(steps):
            self._sorter.rewind(shared)
        for event in events[shared:]:
            self._sorter.take(event)
        return self._sorter

    def _events(self) -> list[Event]:
        """Return the answers as steps of the sorter, but those about pages removed before them."""
        gone: set[int] = set()
        events: list[Event] = []
        for member, judgment in zip(self._members, self._answers, strict=True):
            if gone & {judgment.left, judgment.right}:
                continue
            if (item := judgment.removed) is not None:
                gone.add(item)
                events.append(Removed(self._index[item]))
            else:
                pair = self._index[judgment.left], self._index[judgment.right]
                events.append(Answered(pair, judgment.answer.preference(), member))
        return events

    def _latest_preferences(self) -> dict[Pair, Preference]:
        """Return the last preference for each pair, in both orders."""
        latest: dict[tuple[ItemId, ItemId], Preference] = {}
        for judgment in self._answers:
            if judgment.answer.is_preference:
                preference = judgment.answer.preference()
                latest[judgment.left, judgment.right] = preference
                latest[judgment.right, judgment.left] = preference.swapped()
        return latest

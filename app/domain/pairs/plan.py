"""The plan of a session: all inputs of its replay, fixed when the assignment is made."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from statistics import fmean
from typing import Any, Self

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.answers import BAD_ANSWERS, Answer, ItemId, Pair
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.pairs.sorters.insertion import insertion_questions
from topkapi.app.domain.pairs.sorters.registry import SORTERS, is_registered
from topkapi.app.domain.settings import Bounds

# Of the numbers that a study's settings declare by them too
BOUNDS = {
    "k": Bounds(1, 1000),
    "best_of": Bounds(1),
    "recheck": Bounds(0),
    "check_share": Bounds(0, 1),
    "attention_every": Bounds(0),
    "budget": Bounds(1),
    "stop_at": Bounds(0, 1, between=True),
    "pair_limit": Bounds(1),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The pages of a session and the rules for its questions.

    ``reuse_answers``: a pair that was answered is not asked again. ``infer_transitive``: a pair
    that is decided by transitivity is not asked. ``best_of``: a pair is asked until one side has a
    majority of that many. ``recheck``: number of passes over adjacent winners at the end.
    ``check_share``: the share of answers after which an earlier pair is asked again with sides
    swapped.

    For the sorter `robust`: ``budget`` is the number of questions (None: the number that the heap
    asks on average), ``goal`` what its questions are for, ``stop_at`` the expected quality at
    which it ends early (kappa-NDCG, or overlap for the goal "members"), ``pair_limit`` the maximum
    number of times that a pair is asked.

    ``guide`` has a ranker's score of each page in ``order``, or is empty. It helps to choose the
    questions and has no part in the list.

    ``together``: all assignments with this plan are a team, whose answers make one list.

    ``started_with`` is the number of pages that were in ``order`` before others were added at its
    end, or 0: pages that were there are not compared with one another again.

    An adjudication asks the ``pairs`` instead of sorting. After every ``attention_every`` sorting
    answers one of the ``gold`` pairs is asked, whose right answer is known; 0 is never.
    """

    order: tuple[ItemId, ...]
    k: int
    sorter: str = "heap"
    sorter_version: int = 1
    allow_ties: bool = True
    allow_bad: bool = True
    reuse_answers: bool = True
    infer_transitive: bool = False
    best_of: int = 1
    recheck: int = 0
    check_share: float = 0.0
    seed: str = ""
    budget: int | None = None
    stop_at: float | None = None
    pair_limit: int = 1
    goal: str = Goal.ORDER.value
    pairs: tuple[Pair, ...] = ()
    attention_every: int = 0
    gold: tuple[Pair, ...] = ()
    together: bool = False
    guide: tuple[float, ...] = ()
    started_with: int = 0

    def __post_init__(self) -> None:
        if not is_registered(self.sorter, self.sorter_version):
            raise Invalid(
                f"There is no sorter {self.sorter!r} version {self.sorter_version}. "
                f"Known sorters: {', '.join(SORTERS)}.",
                field="sorter",
            )
        if self.together and not SORTERS[self.sorter].sampled:
            raise Invalid(
                f"together needs the sorter robust, not {self.sorter!r}.", field="together"
            )
        for name, bounds in BOUNDS.items():
            bounds.check(name, getattr(self, name))
        if self.best_of % 2 == 0:
            raise Invalid(f"best_of is {self.best_of}; use an odd number.", field="best_of")
        if self.goal not in list(Goal):
            raise Invalid(f"goal is {self.goal!r}; it can be {', '.join(Goal)}.", field="goal")
        if self.guide and len(self.guide) != len(self.order):
            raise Invalid("There must be a score for each document.", field="guide")
        if len(set(self.order)) != len(self.order):
            raise Invalid("A document appears twice in the order.", field="order")

    def allows(self, answer: Answer) -> bool:
        """Return whether the study offers ``answer``; "unjudgeable" is always allowed."""
        if answer is Answer.TIE:
            return self.allow_ties
        return self.allow_bad if answer in BAD_ANSWERS else True

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that the study offers."""
        return tuple(answer for answer in Answer if self.allows(answer))

    @property
    def most_questions(self) -> int:
        """Upper bound on the number of sorting questions, or the budget if there is one."""
        n, sorter = len(self.order), SORTERS[self.sorter]
        if not sorter.sampled or self.budget is None:
            start = self.started_with or n
            return sorter.bound(start, self.k) + insertion_questions(n - start, self.k)
        return min(self.budget, self.pair_limit * n * (n - 1) // 2)

    def grown(self, added: Sequence[ItemId], scores: Mapping[ItemId, float], done: bool) -> Self:
        """Return the plan with further pages at the end of its order.

        Work that is ``done`` asks only what may bring one of them into the list. ``scores`` are
        those of a ranker. A sampled sorter gets as many more questions as the heap would ask, and
        at least two per page.
        """
        n, size, sampled = len(self.order), len(added), SORTERS[self.sorter].sampled
        more = max(2 * size, heap_questions(n + size, self.k) - heap_questions(n, self.k))
        known = self.guide and (
            *self.guide,
            *(scores.get(each, fmean(self.guide)) for each in added),
        )
        start = self.started_with or (n if done or not sampled else 0)
        return replace(
            self,
            order=(*self.order, *added),
            guide=known,
            started_with=start,
            budget=self.most_questions + more if sampled else self.budget,
        )

    def as_json(self) -> dict[str, Any]:
        """Return a plain dictionary that `from_json` reads back.

        What is as in plans made before there was anything else is omitted.
        """
        stored = {**asdict(self), "order": list(self.order), "guide": list(self.guide)}
        for name, pairs in (("pairs", self.pairs), ("gold", self.gold)):
            stored[name] = [list(pair) for pair in pairs]
        for name in ("pairs", "gold", "attention_every", "together", "guide", "started_with"):
            if not stored[name]:
                del stored[name]
        if self.goal == Goal.ORDER:
            del stored["goal"]
        return stored

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Read the plan that `as_json` wrote."""
        known = {field.name for field in fields(cls)}
        values = {name: value for name, value in stored.items() if name in known}
        for name in ("pairs", "gold"):
            values[name] = tuple((first, second) for first, second in stored.get(name, ()))
        values["guide"] = tuple(stored.get("guide", ()))
        return cls(**{**values, "order": tuple(stored["order"])})

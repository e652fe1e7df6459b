"""Runs of a contest against a simulated assessor: what a sorter costs and how true its list is."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from topkapi.app.domain.pairs.answers import ItemId, Pair, Preference
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import (
    Assessor,
    Errors,
    SimulatedAssessor,
    true_worths,
)
from topkapi.app.domain.pairs.sorter_run import run_plan
from topkapi.app.domain.pairs.sorters.registry import SORTERS, Ranking

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Belief:
    """What a sampled sorter thinks of its own list, and of the assessor."""

    quality: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated session: questions asked, the list it ended with, and the worths behind it."""

    judgments: int
    ranking: tuple[ItemId, ...]
    worth: tuple[float, ...]
    belief: Belief | None = None


def judge(plan: Plan, assessor: Assessor) -> tuple[int, tuple[ItemId, ...], Belief | None]:
    """Ask ``assessor`` until the contest of ``plan`` ends: questions, list, and belief in it."""
    if SORTERS[plan.sorter].sampled:
        from topkapi.app.domain.pairs.robust.sampled import sampled_run
        from topkapi.app.domain.pairs.robust.strategy import (
            rules_of,  # NumPy, for those who need it
        )

        run = sampled_run(plan.order, plan.k, rules_of(plan), seed=plan.seed)
        asked, (ranking, conclusion) = _answered(run, assessor)
        return asked, _listed(ranking, plan.k), Belief(conclusion.quality, conclusion.error_rate)
    asked, ranking = _answered(run_plan(plan, plan.order, {}), assessor)
    return asked, _listed(ranking, plan.k), None


def _answered(running: Generator[Pair, Preference, T], assessor: Assessor) -> tuple[int, T]:
    asked = 0
    try:
        pair = next(running)
        while True:
            asked += 1
            pair = running.send(assessor.prefer(pair))
    except StopIteration as stop:
        return asked, stop.value


def _listed(ranking: Ranking, k: int) -> tuple[ItemId, ...]:
    return tuple([item for items in ranking for item in items][:k])


def simulate(
    plan: Plan,
    *,
    error: float,
    grades: int,
    runs: int,
    seed: str,
    errors: Errors = Errors.UNIFORM,
    persistent: bool = False,
) -> Iterator[Run]:
    """Independent runs, each with a new truth; the plan's order is of places 0 to n - 1."""
    random = Random(seed)
    for number in range(runs):
        worth = true_worths(len(plan.order), grades, random)
        assessor = SimulatedAssessor(
            worth, error=error, errors=errors, persistent=persistent, random=random
        )
        asked, ranking, belief = judge(replace(plan, seed=f"{seed}/{number}"), assessor)
        yield Run(asked, ranking, tuple(worth), belief)

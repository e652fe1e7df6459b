"""Sorter runs with a simulated assessor: the cost of a sorter and the quality of its list."""

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
from topkapi.app.domain.pairs.sorters.ranking import Ranking
from topkapi.app.domain.pairs.sorters.registry import SORTERS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """A sampled sorter's estimates of its list's quality and of the assessor's error rate."""

    quality: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated session: number of questions, final list, and true worths."""

    judgments: int
    ranking: tuple[ItemId, ...]
    worth: tuple[float, ...]
    estimate: RunEstimate | None = None


def judge(plan: Plan, assessor: Assessor) -> tuple[int, tuple[ItemId, ...], RunEstimate | None]:
    """Run the sorter of ``plan`` with ``assessor``; return question count, list and estimates."""
    if SORTERS[plan.sorter].sampled:
        from topkapi.app.domain.pairs.robust.sampled import sampled_run
        from topkapi.app.domain.pairs.robust.strategy import (
            rules_of,  # loads NumPy
        )

        run = sampled_run(plan.order, plan.k, rules_of(plan), seed=plan.seed)
        asked, (ranking, conclusion) = _answered(run, assessor)
        return (
            asked,
            _listed(ranking, plan.k),
            RunEstimate(conclusion.quality, conclusion.error_rate),
        )
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
    """Yield independent runs, each with newly drawn worths.

    The plan's order must consist of the indices 0 to n - 1.
    """
    random = Random(seed)
    for number in range(runs):
        worth = true_worths(len(plan.order), grades, random)
        assessor = SimulatedAssessor(
            worth, error=error, errors=errors, persistent=persistent, random=random
        )
        asked, ranking, estimate = judge(replace(plan, seed=f"{seed}/{number}"), assessor)
        yield Run(asked, ranking, tuple(worth), estimate)

"""Sorter runs with a simulated assessor: the cost of a sorter and the quality of its list."""

from collections.abc import Generator, Iterable, Iterator
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
from topkapi.app.domain.simulation.votes import Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunEstimate:
    """A sampled sorter's estimates of its list's quality and of the assessor's error rate."""

    quality: float
    overlap: float
    error_rate: float


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated session: number of questions, final list, and true worths.

    ``filled`` counts the answers about pairs without a real vote, in sessions that replay votes.
    """

    judgments: int
    ranking: tuple[ItemId, ...]
    worth: tuple[float, ...]
    estimate: RunEstimate | None = None
    filled: int = 0


def judge(plan: Plan, assessor: Assessor) -> tuple[int, tuple[ItemId, ...], RunEstimate | None]:
    """Run the sorter of ``plan`` with ``assessor``; return question count, list and estimates."""
    if SORTERS[plan.sorter].sampled:
        from topkapi.app.domain.pairs.robust.sampled import sampled_run
        from topkapi.app.domain.pairs.robust.strategy import (
            rules_of,  # loads NumPy
        )

        run = sampled_run(plan.order, plan.k, rules_of(plan), seed=plan.seed)
        asked, (ranking, conclusion) = _answered(run, assessor)
        quality, overlap = conclusion.kappa_ndcg().mean, conclusion.overlap().mean
        return asked, _listed(ranking, plan.k), RunEstimate(quality, overlap, conclusion.error_rate)
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


def replay_votes(plan: Plan, found: Iterable[Session], seed: str) -> Iterator[Run]:
    """Yield a run of ``plan`` for each session, over as many items as the session has.

    A list cannot be longer than the items, and a budget is that of ``plan``.
    """
    for number, each in enumerate(found):
        order = tuple(range(len(each.worth)))
        mine = replace(plan, order=order, seed=f"{seed}/{number}")
        asked, ranking, belief = judge(mine, each.assessor)
        yield Run(asked, ranking, each.worth, belief, each.assessor.filled)


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
        worth = true_worths(len(plan.order), grades, random, errors)
        assessor = SimulatedAssessor(
            worth, error=error, errors=errors, persistent=persistent, random=random
        )
        asked, ranking, estimate = judge(replace(plan, seed=f"{seed}/{number}"), assessor)
        yield Run(asked, ranking, tuple(worth), estimate)

"""Runs of a contest against a simulated assessor: what a sorter costs and how true its list is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from app.domain.answers import ItemId
from app.domain.assessors import Assessor, SimulatedAssessor, true_worths
from app.domain.contest import contest
from app.domain.plan import Plan


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated session: questions asked, the list it ended with, and the worths behind it."""

    judgments: int
    ranking: tuple[ItemId, ...]
    worth: tuple[float, ...]


def judge(plan: Plan, assessor: Assessor) -> tuple[int, tuple[ItemId, ...]]:
    """Ask ``assessor`` until the contest of ``plan`` ends; the number of questions and the list."""
    running = contest(plan, plan.order, {})
    asked = 0
    try:
        pair = next(running)
        while True:
            asked += 1
            pair = running.send(assessor.prefer(pair))
    except StopIteration as stop:
        listed = [item for items in stop.value for item in items]
    return asked, tuple(listed[: plan.k])


def simulate(plan: Plan, *, error: float, grades: int, runs: int, seed: str) -> Iterator[Run]:
    """Independent runs, each with a new truth; the plan's order is of places 0 to n - 1."""
    random = Random(seed)
    for number in range(runs):
        worth = true_worths(len(plan.order), grades, random)
        assessor = SimulatedAssessor(worth, error=error, random=random)
        asked, ranking = judge(replace(plan, seed=f"{seed}/{number}"), assessor)
        yield Run(asked, ranking, tuple(worth))

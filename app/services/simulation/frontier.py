"""Quality against number of questions, for every sorter and several error rates.

The robust sorter asks until its budget is spent, so one simulated session yields its list after any
number of questions: a curve for each of its goals. Every other sorter is a point.
"""

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.robust.sorter import Answered, RobustSorter, Rules
from topkapi.app.domain.pairs.robust.strategy import rules_of
from topkapi.app.domain.pairs.simulated_assessors import SimulatedAssessor, true_worths
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.runs import Run
from topkapi.app.services.simulation.sessions import (
    CHUNK_SAMPLED,
    Setting,
    in_order,
    measures,
    summarise,
    worker_pool,
)

ROBUST = "robust"
CURVES = {ROBUST: Goal.ORDER, f"{ROBUST}, goal members": Goal.MEMBERS}
BUDGETS = (0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.5)  # fractions of the heap's expected questions
HEADS = (
    *("sorter", "n", "k", "error", "questions", "kappa_ndcg", "standard_error"),
    *("overlap", "overlap_standard_error", "runs"),
)


@dataclass(frozen=True, slots=True)
class Point:
    """Quality (kappa-NDCG) and overlap of the lists of a sorter after a number of questions."""

    sorter: str
    error: float
    questions: float
    quality: float
    standard_error: float
    overlap: float
    overlap_standard_error: float


@dataclass(frozen=True, slots=True)
class Frontier:
    """The points of all sorters for one size of query."""

    base: Setting
    points: tuple[Point, ...]


def variants(base: Plan) -> dict[str, Plan]:
    """Return the plans of every exact sorter, and of variants that ask more for more quality."""
    plans = {
        name: replace(base, sorter=name, sorter_version=info.version, pair_limit=1)
        for name, info in SORTERS.items()
        if not info.sampled
    }
    plans["heap, asked again"] = replace(plans["heap"], reuse_answers=False)
    plans["insertion, rechecked twice"] = replace(plans["insertion"], recheck=2)
    plans["tournament, best of three"] = replace(
        plans["tournament"], reuse_answers=False, best_of=3
    )
    return plans


def frontier(
    base: Setting,
    rates: Sequence[float],
    *,
    on_runs: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Frontier:
    """Simulate every sorter at every error rate.

    ``base`` sets the size of the query, the number of runs and the error model; ``on_runs`` is
    called with the number of runs done.
    """
    points: list[Point] = []
    for rate in rates:
        setting = replace(base, error=rate)
        for name, plan in variants(base.plan).items():
            points.append(_point(name, replace(setting, plan=plan), processes))
            if on_runs is not None:
                on_runs(base.runs)
        for name, goal in CURVES.items():
            curve = replace(setting, plan=replace(base.plan, goal=goal))
            points.extend(_curve(name, curve, processes))
            if on_runs is not None:
                on_runs(base.runs)
    return Frontier(base, tuple(points))


def steps(base: Setting, rates: Sequence[float]) -> int:
    """Return the number of runs that `frontier` reports to ``on_runs``."""
    return base.runs * len(rates) * (len(variants(base.plan)) + len(CURVES))


def _point(name: str, setting: Setting, processes: int | None) -> Point:
    summary, root = summarise(setting, processes=processes), setting.runs**0.5
    return Point(
        name,
        setting.error,
        summary.judgments_mean,
        summary.kappa_ndcg_mean,
        float(summary.kappa_ndcg_sd / root),
        summary.overlap_mean,
        float(summary.overlap_sd / root),
    )


def _curve(name: str, setting: Setting, processes: int | None) -> Iterator[Point]:
    """Yield the points of the robust sorter after each number of questions."""
    counts = _counts(setting.plan)
    starts = range(0, setting.runs, CHUNK_SAMPLED)
    jobs = [
        (setting, number, min(CHUNK_SAMPLED, setting.runs - start), counts)
        for number, start in enumerate(starts)
    ]
    with worker_pool(processes) if processes != 1 and len(jobs) > 1 else nullcontext() as pool:
        chunks = list(in_order(pool, qualities_of, jobs) if pool else map(qualities_of, jobs))
    found = np.concatenate(chunks)  # (runs, counts, measures)
    spread = found.std(axis=0, ddof=1) if len(found) > 1 else np.zeros(found.shape[1:])
    for column, count in enumerate(counts):
        quality, overlap = found[:, column].mean(axis=0)
        errors = spread[column] / len(found) ** 0.5
        figures = (float(quality), float(errors[0]), float(overlap), float(errors[1]))
        yield Point(name, setting.error, float(count), *figures)


def _counts(plan: Plan) -> tuple[int, ...]:
    usual = heap_questions(len(plan.order), plan.k)
    most = rules_of(replace(plan, sorter=ROBUST, budget=2 * usual + 1)).budget
    return tuple(sorted({max(1, min(most, round(share * usual))) for share in BUDGETS}))


def qualities_of(job: tuple[Setting, int, int, tuple[int, ...]]) -> NDArray[np.float64]:
    """Return both measures after each of ``counts`` questions: (runs, counts, measures)."""
    setting, number, runs, counts = job
    random = Random(f"frontier/{setting.seed}/{number}")
    return np.array([_measures_of_run(setting, counts, random) for _ in range(runs)])


def _measures_of_run(
    setting: Setting, counts: tuple[int, ...], random: Random
) -> list[tuple[float, float]]:
    plan = setting.plan
    worth = true_worths(len(plan.order), setting.ties, random, setting.errors)
    assessor = SimulatedAssessor(
        worth,
        error=setting.error,
        errors=setting.errors,
        persistent=setting.persistent,
        random=random,
    )
    rules = Rules(max(counts), None, plan.pair_limit, Goal(plan.goal))
    sorter = RobustSorter(len(plan.order), plan.k, rules, str(random.random()))
    found: list[tuple[float, float]] = []
    for asked in range(1, max(counts) + 1):
        pair = sorter.ask()
        if pair is not None:
            sorter.take(Answered(pair, assessor.prefer(pair)))
        if asked in counts:
            ranking = sorter.conclude().ranking
            found.append(measures(Run(asked, ranking, tuple(worth)), plan.k))
    return found


def write_csv(frontier: Frontier, path: Path) -> None:
    """Write the points as a CSV table, one per line."""
    plan = frontier.base.plan
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(HEADS)
        for point in frontier.points:
            figures = (f"{point.questions:.1f}", f"{point.quality:.4f}")
            spread = f"{point.standard_error:.4f}"
            overlap = (f"{point.overlap:.4f}", f"{point.overlap_standard_error:.4f}")
            setting = (len(plan.order), plan.k, point.error)
            row = (point.sorter, *setting, *figures, spread, *overlap, frontier.base.runs)
            writer.writerow(row)

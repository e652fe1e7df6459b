"""What a sorter would cost and yield: many simulated sessions, summed up."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.metrics import kappa_ndcg_of_lists
from app.domain.assessors import by_worth
from app.domain.plan import Plan
from app.domain.simulation import Run, simulate
from app.domain.sorting import SORTERS

IntArray = NDArray[np.int64]

CHUNK = 250  # runs that share a seed: the result does not depend on the number of processes
WORTH_A_PROCESS = 60_000  # questions under which starting processes costs more than it saves


@dataclass(frozen=True, slots=True)
class Setting:
    """One cell of a simulation: a plan, how the assessor errs and ties, and how often."""

    plan: Plan
    error: float
    ties: int
    runs: int
    seed: int

    @property
    def questions(self) -> int:
        """About how many questions it will ask."""
        return SORTERS[self.plan.sorter].bound(len(self.plan.order), self.plan.k) * self.runs


@dataclass(frozen=True, slots=True)
class Chunk:
    """A share of a setting's runs, with a seed of its own."""

    setting: Setting
    number: int
    runs: int


@dataclass(frozen=True, slots=True)
class Summary:
    """Questions asked and quality of the lists, over the runs of a setting."""

    judgments_mean: float
    judgments_sd: float
    judgments_max: int
    kappa_ndcg_mean: float
    kappa_ndcg_sd: float
    overlap_mean: float
    bound: int


def summarise(setting: Setting, *, on_runs: Callable[[int], None] | None = None) -> Summary:
    """Run ``setting``, on every core if it is long; ``on_runs`` hears of runs done."""
    counts: list[IntArray] = []
    ranks: list[IntArray] = []
    for judgments, listed in _results(setting):
        counts.append(judgments)
        ranks.append(listed)
        if on_runs is not None:
            on_runs(len(judgments))
    return _summed_up(setting, np.concatenate(counts), np.concatenate(ranks))


def _results(setting: Setting) -> Iterator[tuple[IntArray, IntArray]]:
    """Questions asked and true ranks listed, chunk by chunk."""
    chunks = [
        Chunk(setting, number, min(CHUNK, setting.runs - start))
        for number, start in enumerate(range(0, setting.runs, CHUNK))
    ]
    cores = min(os.cpu_count() or 1, len(chunks))
    if cores == 1 or setting.questions < WORTH_A_PROCESS:
        yield from map(_run_chunk, chunks)
        return
    with ProcessPoolExecutor(cores) as pool:
        yield from pool.map(_run_chunk, chunks)


def _run_chunk(chunk: Chunk) -> tuple[IntArray, IntArray]:
    setting = chunk.setting
    runs = list(
        simulate(
            setting.plan,
            error=setting.error,
            grades=setting.ties,
            runs=chunk.runs,
            seed=f"{setting.seed}/{chunk.number}",
        )
    )
    judgments = np.array([run.judgments for run in runs], dtype=np.int64)
    return judgments, np.array([_true_ranks(run) for run in runs], dtype=np.int64)


def _true_ranks(run: Run) -> list[int]:
    """The true ranks of the listed items; equals take the ranks of their class as they come."""
    free: dict[float, list[int]] = {}
    for rank, item in reversed(list(enumerate(by_worth(run.worth)))):
        free.setdefault(run.worth[item], []).append(rank)
    return [free[run.worth[item]].pop() for item in run.ranking]


def _summed_up(setting: Setting, judgments: IntArray, listed: IntArray) -> Summary:
    n, k = len(setting.plan.order), setting.plan.k
    quality = kappa_ndcg_of_lists(listed, k, n_items=n)
    overlap = (listed < k).sum(axis=1) / max(1, min(k, n))
    return Summary(
        judgments_mean=float(judgments.mean()),
        judgments_sd=_deviation(judgments),
        judgments_max=int(judgments.max()),
        kappa_ndcg_mean=float(quality.mean()),
        kappa_ndcg_sd=_deviation(quality),
        overlap_mean=float(overlap.mean()),
        bound=SORTERS[setting.plan.sorter].bound(n, k),
    )


def _deviation(values: NDArray[np.integer | np.floating]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0

"""Cost and quality of a sorter, summarized over many simulated sessions."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import active_children

import numpy as np
from numpy.typing import NDArray

from topkapi.analysis.metrics import kappa_ndcg_of_lists
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors, by_worth
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.runs import Belief, Run, simulate

IntArray = NDArray[np.int64]

CHUNK = 250  # runs that share a seed: the result does not depend on the number of processes
CHUNK_SAMPLED = 25  # the same for sampled sorters, whose runs take longer
SAMPLED_COSTS = 1_000  # approximate factor
WORTH_A_PROCESS = 60_000  # questions; below, starting processes costs more than it saves


@dataclass(frozen=True, slots=True)
class Setting:
    """One cell of a simulation: a plan, the error model and ties, and the number of runs."""

    plan: Plan
    error: float
    ties: int
    runs: int
    seed: int
    errors: Errors = Errors.UNIFORM
    persistent: bool = False

    @property
    def work(self) -> int:
        """Estimated cost, in questions of a sorter that is not sampled."""
        factor = SAMPLED_COSTS if SORTERS[self.plan.sorter].sampled else 1
        return self.plan.most_questions * self.runs * factor


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a setting's runs, with its own seed."""

    setting: Setting
    number: int
    runs: int


@dataclass(frozen=True, slots=True)
class Results:
    """Per run: questions asked, true ranks of the listed items, a sampled sorter's estimates."""

    judgments: IntArray
    ranks: IntArray
    estimates: list[Belief]


@dataclass(frozen=True, slots=True)
class Summary:
    """Questions asked and quality of the lists, over the runs of a setting.

    For a sampled sorter they include its own estimates of the quality and of the error rate.
    """

    judgments_mean: float
    judgments_sd: float
    judgments_max: int
    kappa_ndcg_mean: float
    kappa_ndcg_sd: float
    overlap_mean: float
    bound: int
    expected_quality_mean: float | None = None
    error_rate_mean: float | None = None


def summarise(
    setting: Setting,
    *,
    on_runs: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Summary:
    """Run ``setting``, on all cores if it is long, and summarize the runs.

    ``on_runs`` is called with the number of runs done.
    """
    results = []
    for result in _results(setting, processes):
        results.append(result)
        if on_runs is not None:
            on_runs(len(result.judgments))
    return _summary_of(
        setting,
        Results(
            np.concatenate([each.judgments for each in results]),
            np.concatenate([each.ranks for each in results]),
            [estimate for each in results for estimate in each.estimates],
        ),
    )


def _results(setting: Setting, processes: int | None) -> Iterator[Results]:
    """Yield the results chunk by chunk."""
    size = CHUNK_SAMPLED if SORTERS[setting.plan.sorter].sampled else CHUNK
    chunks = [
        Chunk(setting, number, min(size, setting.runs - start))
        for number, start in enumerate(range(0, setting.runs, size))
    ]
    cores = min(processes or os.cpu_count() or 1, len(chunks))
    if cores == 1 or setting.work < WORTH_A_PROCESS:
        yield from map(_run_chunk, chunks)
        return
    others = set(active_children())
    with ProcessPoolExecutor(cores, initializer=_leave_interrupts) as pool:
        try:
            yield from pool.map(_run_chunk, chunks)
        except BaseException:  # Ctrl-C must not wait for the chunks in progress
            for child in set(active_children()) - others:
                child.terminate()
            raise


def _leave_interrupts() -> None:
    """Ignore Ctrl-C in a worker process: its parent ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run_chunk(chunk: Chunk) -> Results:
    setting = chunk.setting
    runs = list(
        simulate(
            setting.plan,
            error=setting.error,
            grades=setting.ties,
            runs=chunk.runs,
            seed=f"{setting.seed}/{chunk.number}",
            errors=setting.errors,
            persistent=setting.persistent,
        )
    )
    return Results(
        np.array([run.judgments for run in runs], dtype=np.int64),
        np.array([true_ranks(run) for run in runs], dtype=np.int64),
        [run.belief for run in runs if run.belief is not None],
    )


def true_ranks(run: Run) -> list[int]:
    """Return the true ranks of the listed items; tied items take their ranks in list order."""
    free: dict[float, list[int]] = {}
    for rank, item in reversed(list(enumerate(by_worth(run.worth)))):
        free.setdefault(run.worth[item], []).append(rank)
    return [free[run.worth[item]].pop() for item in run.ranking]


def _summary_of(setting: Setting, results: Results) -> Summary:
    n, k = len(setting.plan.order), setting.plan.k
    judgments, estimates = results.judgments, results.estimates
    quality = kappa_ndcg_of_lists(results.ranks, k, n_items=n)
    overlap = (results.ranks < k).sum(axis=1) / max(1, min(k, n))
    return Summary(
        judgments_mean=float(judgments.mean()),
        judgments_sd=_deviation(judgments),
        judgments_max=int(judgments.max()),
        kappa_ndcg_mean=float(quality.mean()),
        kappa_ndcg_sd=_deviation(quality),
        overlap_mean=float(overlap.mean()),
        bound=setting.plan.most_questions,
        expected_quality_mean=_mean([estimate.quality for estimate in estimates]),
        error_rate_mean=_mean([estimate.error_rate for estimate in estimates]),
    )


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _deviation(values: NDArray[np.integer | np.floating]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0

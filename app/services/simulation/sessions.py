"""Cost and quality of a sorter, summarized over many simulated sessions."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import active_children
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from topkapi.analysis.metrics import kappa_ndcg_of_lists
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors, by_worth
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.runs import (
    ALONE,
    SESSIONS,
    Company,
    Run,
    RunEstimate,
    replay_votes,
    simulate,
)
from topkapi.app.domain.simulation.votes import Election, sessions

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
T = TypeVar("T")
R = TypeVar("R")

CHUNK = 250  # runs that share a seed: the result does not depend on the number of processes
CHUNK_SAMPLED = 25  # the same for sampled sorters, whose runs take longer
SAMPLED_COSTS = 1_000  # approximate factor
WORTH_A_PROCESS = 60_000  # questions; below, starting processes costs more than it saves


@dataclass(frozen=True, slots=True)
class Votes:
    """Real votes that answer instead of an error model; ``n`` items are drawn, all if None."""

    elections: tuple[Election, ...]
    n: int | None
    one_assessor: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """One cell of a simulation: a plan, the error model and ties, and the number of runs.

    With ``votes``, real votes answer, and error model and ties have no meaning. Every ``lists``
    runs are of one query, whose worths they share.
    """

    plan: Plan
    error: float
    ties: int
    runs: int
    seed: int
    errors: Errors = Errors.UNIFORM
    persistent: bool = False
    votes: Votes | None = None
    company: Company = ALONE
    lists: int = 1

    @property
    def work(self) -> int:
        """Estimated cost, in questions of a sorter that is not sampled."""
        factor = SAMPLED_COSTS if SORTERS[self.plan.sorter].sampled else 1
        groups = self.runs if self.votes else -(-self.runs // SESSIONS)
        sessions = self.runs + self.company.queries * groups
        return self.plan.most_questions * sessions * factor


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a setting's runs, with its own seed."""

    setting: Setting
    number: int
    start: int
    runs: int


@dataclass(frozen=True, slots=True)
class Results:
    """Per run: questions, measures of the list, estimates of a sampled sorter, filled answers."""

    judgments: IntArray
    kappa_ndcg: FloatArray
    overlap: FloatArray
    estimates: list[RunEstimate]
    filled: int
    own: list[tuple[float, float]]
    ceiling: list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Summary:
    """Questions asked and quality of the lists, over the runs of a setting.

    For a sampled sorter they include its own estimates of both measures and of the error rate;
    ``expected_quality_mean`` is another name of ``stated_kappa_ndcg_mean``. ``filled_share`` is the
    share of answers about pairs on which nobody had voted. ``own`` measures compare the list with
    all votes of the people who answer, which is what a sampled sorter states; the ceiling is what
    these votes would reach. Standard errors end in ``_se``.
    """

    judgments_mean: float
    judgments_sd: float
    judgments_max: int
    kappa_ndcg_mean: float
    kappa_ndcg_sd: float
    overlap_mean: float
    overlap_sd: float
    bound: int
    stated_kappa_ndcg_mean: float | None = None
    stated_overlap_mean: float | None = None
    expected_quality_mean: float | None = None
    error_rate_mean: float | None = None
    filled_share: float | None = None
    kappa_ndcg_se: float = 0.0
    overlap_se: float = 0.0
    ceiling_kappa_ndcg_mean: float | None = None
    ceiling_overlap_mean: float | None = None
    own_kappa_ndcg_mean: float | None = None
    own_overlap_mean: float | None = None


def summarise(
    setting: Setting,
    *,
    on_runs: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Summary:
    """Run ``setting`` and summarize the runs; see `run_setting`."""
    return _summary_of(setting, run_setting(setting, on_runs=on_runs, processes=processes))


def run_setting(
    setting: Setting,
    *,
    on_runs: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Results:
    """Run ``setting``, on all cores if it is long; ``on_runs`` gets the number of runs done."""
    results = []
    for result in _results(setting, processes):
        results.append(result)
        if on_runs is not None:
            on_runs(len(result.judgments))
    return Results(
        np.concatenate([each.judgments for each in results]),
        np.concatenate([each.kappa_ndcg for each in results]),
        np.concatenate([each.overlap for each in results]),
        [estimate for each in results for estimate in each.estimates],
        sum(each.filled for each in results),
        [each for result in results for each in result.own],
        [each for result in results for each in result.ceiling],
    )


def _results(setting: Setting, processes: int | None) -> Iterator[Results]:
    """Yield the results chunk by chunk."""
    size = CHUNK_SAMPLED if SORTERS[setting.plan.sorter].sampled else CHUNK
    size = max(1, size // setting.lists) * setting.lists
    chunks = [
        Chunk(setting, number, start, min(size, setting.runs - start))
        for number, start in enumerate(range(0, setting.runs, size))
    ]
    cores = min(processes or os.cpu_count() or 1, len(chunks))
    if cores == 1 or setting.work < WORTH_A_PROCESS:
        yield from map(_run_chunk, chunks)
        return
    with worker_pool(cores) as pool:
        yield from in_order(pool, _run_chunk, chunks)


@contextmanager
def worker_pool(processes: int | None) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes; an exception, such as Ctrl-C, ends them without waiting."""
    others = set(active_children())
    ignored = (signal.SIGINT, signal.SIG_IGN)  # in the workers: their parent ends them
    pool = ProcessPoolExecutor(processes, initializer=signal.signal, initargs=ignored)
    try:
        yield pool
    except BaseException:
        for child in set(active_children()) - others:
            child.kill()
        pool.shutdown(wait=False)
        raise
    pool.shutdown()


def in_order(
    pool: ProcessPoolExecutor, function: Callable[[T], R], items: Iterable[T]
) -> Iterator[R]:
    """Yield the results of all items in order, as ``pool.map`` does, but cancel none on Ctrl-C.

    The thread of a pool whose processes were ended fails at cancelled items, with a traceback.
    """
    waiting = [pool.submit(function, item) for item in items][::-1]
    while waiting:
        yield waiting.pop().result()


def _run_chunk(chunk: Chunk) -> Results:
    runs = list(_runs(chunk))
    k = chunk.setting.plan.k
    measured = [measures(run, k) for run in runs]
    return Results(
        np.array([run.judgments for run in runs], dtype=np.int64),
        np.array([quality for quality, _ in measured]),
        np.array([overlap for _, overlap in measured]),
        [run.estimate for run in runs if run.estimate is not None],
        sum(run.filled for run in runs),
        [measures(replace(run, worth=run.own), k) for run in runs if run.own],
        [
            measures(replace(run, ranking=tuple(by_worth(run.own)[:k])), k)
            for run in runs
            if run.own
        ],
    )


def _runs(chunk: Chunk) -> Iterator[Run]:
    setting, seed = chunk.setting, f"{chunk.setting.seed}/{chunk.number}"
    if setting.votes is None:
        return simulate(
            setting.plan,
            error=setting.error,
            grades=setting.ties,
            runs=chunk.runs,
            seed=seed,
            errors=setting.errors,
            persistent=setting.persistent,
            company=setting.company,
            lists=setting.lists,
        )
    replayed = sessions(
        setting.votes.elections,
        n=setting.votes.n,
        runs=chunk.runs,
        one_assessor=setting.votes.one_assessor,
        persistent=setting.persistent,
        seed=str(setting.seed),
        start=chunk.start,
        team=setting.company.team,
        lists=setting.lists,
        queries=setting.company.queries if SORTERS[setting.plan.sorter].sampled else 0,
    )
    return replay_votes(setting.plan, replayed, seed)


def measures(run: Run, k: int) -> tuple[float, float]:
    """Return kappa-NDCG and overlap at ``k`` of the list of a run."""
    n = len(run.worth)
    if not n:
        return 1.0, 1.0
    ranks = np.array([true_ranks(run)], dtype=np.int64)
    quality = kappa_ndcg_of_lists(ranks, k, n_items=n)
    return float(quality[0]), float((ranks < k).sum() / min(k, n))


def true_ranks(run: Run) -> list[int]:
    """Return the true ranks of the listed items; tied items take their ranks in list order."""
    free: dict[float, list[int]] = {}
    for rank, item in reversed(list(enumerate(by_worth(run.worth)))):
        free.setdefault(run.worth[item], []).append(rank)
    return [free[run.worth[item]].pop() for item in run.ranking]


def _summary_of(setting: Setting, results: Results) -> Summary:
    judgments, estimates = results.judgments, results.estimates
    stated = _mean([estimate.quality for estimate in estimates])
    root = len(judgments) ** 0.5
    return Summary(
        judgments_mean=float(judgments.mean()),
        judgments_sd=_deviation(judgments),
        judgments_max=int(judgments.max()),
        kappa_ndcg_mean=float(results.kappa_ndcg.mean()),
        kappa_ndcg_sd=_deviation(results.kappa_ndcg),
        overlap_mean=float(results.overlap.mean()),
        overlap_sd=_deviation(results.overlap),
        bound=setting.plan.most_questions,
        stated_kappa_ndcg_mean=stated,
        stated_overlap_mean=_mean([estimate.overlap for estimate in estimates]),
        expected_quality_mean=stated,
        error_rate_mean=_mean([estimate.error_rate for estimate in estimates]),
        filled_share=None
        if setting.votes is None
        else results.filled / max(1, int(judgments.sum())),
        kappa_ndcg_se=_deviation(results.kappa_ndcg) / root,
        overlap_se=_deviation(results.overlap) / root,
        ceiling_kappa_ndcg_mean=_mean([quality for quality, _ in results.ceiling]),
        ceiling_overlap_mean=_mean([overlap for _, overlap in results.ceiling]),
        own_kappa_ndcg_mean=_mean([quality for quality, _ in results.own]),
        own_overlap_mean=_mean([overlap for _, overlap in results.own]),
    )


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _deviation(values: NDArray[np.integer | np.floating]) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0

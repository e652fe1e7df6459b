"""Time of the report, and of its parts against peers in the same run.

    .venv/bin/python bench/agreement.py [--small]

Prints one JSON object per line. Time and memory depend on the machine, the ratios less so.
"""

import json
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from bench.exact_kemeny import exact_cost
from tests.simulated_study import simulated_study
from topkapi.analysis.aggregation import kemeny_cost, majority_table, supervised_kemeny
from topkapi.analysis.agreement import cohen_kappa, from_scores, pair_tables, tau_b
from topkapi.analysis.report import build_report
from topkapi.analysis.report.page import render_page
from topkapi.analysis.report.serialise import to_json
from topkapi.analysis.report.sources import read_preferences

IMAGES = Path(__file__).parents[2] / "shared/data/prefs-image-search/image_pairs_annotation.gz"


def timed(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Return the least seconds of several runs, and the result of the last one."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        found = work()
        times.append(time.perf_counter() - start)
    return min(times), found


def say(name: str, **figures: object) -> None:
    print(json.dumps({"bench": name, **figures}), flush=True)


def memory() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2)


def large(small: bool) -> None:
    """Time 100 assessors, 500 queries of 50 documents, ten assessors per query and tool."""
    people, queries = (20, 50) if small else (100, 500)
    study = simulated_study(np.linspace(0.03, 0.25, people).tolist(), queries=queries, rounds=10)
    before = time.process_time()
    seconds, report = timed(lambda: build_report(study), repeats=1)
    cpu = time.process_time() - before
    writing, _ = timed(lambda: (to_json(report), render_page(report)), repeats=1)
    limits = {"limit_seconds": 60, "limit_gb": 2}
    say("report", assessors=people, queries=queries, seconds=round(seconds, 1),
        cpu_seconds=round(cpu, 1), writing=round(writing, 1), gb=memory(), **limits)  # fmt: skip


def real() -> None:
    """Time the image search collection with its three assessors, from file to page."""
    if not IMAGES.exists():
        say("image-search", skipped="the collection is not here")
        return
    seconds, _ = timed(lambda: render_page(build_report(read_preferences([IMAGES]))), repeats=1)
    say("image-search", seconds=round(seconds, 2), gb=memory(), limit_seconds=10, limit_gb=1)


def against_sklearn() -> None:
    """Time all 3 x 3 tables and kappas of 10 assessors x 1,225 pairs x 100 queries."""
    study = simulated_study([0.1] * 20, queries=100, rounds=10, answers=0)
    votes = from_scores(study.tools[0].scores, 20, 100)
    ours, tables = timed(lambda: pair_tables(votes))

    def theirs() -> list[float]:
        kappas = []
        for block in votes.blocks[:5]:
            for i, j in zip(*np.triu_indices(10, k=1), strict=True):
                confusion_matrix(block.votes[i], block.votes[j], labels=[0, 1, 2])
                kappas.append(cohen_kappa_score(block.votes[i], block.votes[j]))
        return kappas

    peer, kappas = timed(theirs, repeats=1)
    worst = float(np.abs(cohen_kappa(tables.counts[: len(kappas)]) - kappas).max())
    ratio = peer * 20 / ours
    say("tables", peer="scikit-learn", ours=round(ours, 4), theirs=round(peer * 20, 3),
        times_faster=round(ratio, 1), largest_difference=worst)  # fmt: skip


def against_scipy() -> None:
    """Time Kendall's tau-b of the same pairs of lists: from the tables, and list by list."""
    study = simulated_study([0.1] * 20, queries=100, rounds=10, answers=0)
    scores = study.tools[0].scores
    tables = pair_tables(from_scores(scores, 20, 100))
    ours, found = timed(lambda: tau_b(tables.counts))
    first, second = np.triu_indices(10, k=1)

    def theirs() -> list[float]:
        return [
            float(stats.kendalltau(each.values[i], each.values[j]).statistic)
            for each in scores[:10]
            for i, j in zip(first, second, strict=True)
        ]

    peer, taus = timed(theirs, repeats=1)
    worst = float(np.abs(found[: len(taus)] - taus).max())
    say("tau-b", peer="scipy.stats.kendalltau", ours=round(ours, 5), theirs=round(peer * 10, 3),
        times_faster=round(peer * 10 / ours), largest_difference=worst)  # fmt: skip


def against_milp() -> None:
    """Measure supervised Kemeny of five random rankings of 30: time and excess over the optimum."""
    rng = np.random.default_rng(0)
    for k in (30, 15):
        ours, peer, excess, printed = [], [], [], []
        for _ in range(20):
            rankings = np.array([rng.permutation(30) for _ in range(5)])
            votes = majority_table(rankings, np.ones(5), k=k)
            seconds, best = timed(partial(exact_cost, votes), repeats=1)
            peer.append(seconds)
            seconds, order = timed(partial(supervised_kemeny, rankings, k=k))
            ours.append(seconds)
            excess.append(kemeny_cost(votes, order) / best - 1)
            plain = supervised_kemeny(rankings, k=k, refine=False)
            printed.append(kemeny_cost(votes, plain) / best - 1)
        say("kemeny", peer="scipy.optimize.milp", k=k, ours_ms=round(1e3 * np.mean(ours), 2),
            theirs_ms=round(1e3 * np.mean(peer), 1),
            times_faster=round(float(np.sum(peer) / np.sum(ours)), 1),
            mean_excess=round(float(np.mean(excess)), 5), most_excess=round(max(excess), 5),
            printed_algorithm=round(float(np.mean(printed)), 4))  # fmt: skip


if __name__ == "__main__":
    against_sklearn()
    against_scipy()
    against_milp()
    real()
    large("--small" in sys.argv)

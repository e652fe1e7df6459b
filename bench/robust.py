"""Quality and calibration of the robust sorter over many sessions, and its time against a peer.

python -m bench.robust                    everything, 300 sessions per line (about half an hour)
python -m bench.robust --runs 50          the same, less precise
python -m bench.robust --only speed       only time
python -m bench.robust --only persistent  one line of quality

Quality is the kappa-NDCG@10 of the list for 50 documents. `stated` is the mean of what the sorter
itself expects (V); it is calibrated if the two means agree. The peer in speed is scikit-learn: one
fit of a Bradley-Terry model by logistic regression to the same answers, which is what choosing the
next question from a refitted model costs without choosing it.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from sklearn.linear_model import LogisticRegression

from topkapi.analysis.metrics import kappa_ndcg_of_lists
from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.robust.conclusion import Conclusion
from topkapi.app.domain.pairs.robust.sampled import Rules, open_sorter
from topkapi.app.domain.pairs.robust.sorter import RobustSorter, Told
from topkapi.app.domain.pairs.simulated_assessors import (
    Errors,
    SimulatedAssessor,
    by_worth,
    true_worths,
)

N, K = 50, 10


@dataclass(frozen=True, slots=True)
class Case:
    """Error model of the assessor, limit per pair, and the question counts to evaluate at."""

    error: float
    counts: tuple[int, ...]
    limit: int = 6
    errors: Errors = Errors.UNIFORM
    persistent: bool = False


CASES = {
    "10": Case(0.10, (90, 143, 200)),
    "5": Case(0.05, (90, 143)),
    "20": Case(0.20, (90, 143, 200)),
    "persistent": Case(0.10, (90, 143), limit=1, persistent=True),
    "bt": Case(0.10, (143,), errors=Errors.BRADLEY_TERRY),
}


def session(case: Case, seed: int) -> tuple[list[float], list[Conclusion], RobustSorter]:
    """Run one simulated session; return true quality and conclusion at each count."""
    random = Random(f"bench/{seed}")
    worth = true_worths(N, 0, random)
    rank = {item: index for index, item in enumerate(by_worth(worth))}
    assessor = SimulatedAssessor(
        worth, error=case.error, errors=case.errors, persistent=case.persistent, random=random
    )
    sorter = open_sorter(N, K, Rules(max(case.counts), None, case.limit), f"bench/{seed}")
    qualities, conclusions = [], []
    for asked in range(1, max(case.counts) + 1):
        pair = sorter.ask()
        assert pair is not None
        sorter.take(Told(pair, assessor.prefer(pair)))
        if asked in case.counts:
            conclusions.append(sorter.conclude())
            ranks = np.array([[rank[item] for item in conclusions[-1].ranking]])
            qualities.append(float(kappa_ndcg_of_lists(ranks, K)[0]))
    return qualities, conclusions, sorter


def measure_quality(names: Sequence[str], runs: int) -> None:
    for name in names:
        case = CASES[name]
        qualities, stated, rates = [], [], []
        for seed in range(runs):
            found, conclusions, _ = session(case, seed)
            qualities.append(found)
            stated.append([each.quality for each in conclusions])
            rates.append([each.error_rate for each in conclusions])
        for column, count in enumerate(case.counts):
            true = np.array(qualities)[:, column]
            print(
                f"{name:>10} errors, {count:>3} questions: kappa-NDCG {true.mean():.4f} "
                f"+- {true.std(ddof=1) / runs**0.5:.4f}, stated {np.mean(stated, 0)[column]:.4f}, "
                f"error rate stated {np.mean(rates, 0)[column]:.3f}, {runs} runs",
                flush=True,
            )


def measure_speed(n: int, questions: int) -> None:
    random = Random("speed")
    worth = true_worths(n, 0, random)
    assessor = SimulatedAssessor(worth, error=0.1, random=random)
    sorter = open_sorter(n, K, Rules(questions, None, 1), "speed")
    ours = []
    for _ in range(questions):
        start = time.process_time()
        pair = sorter.ask()
        asked = time.process_time() - start
        assert pair is not None
        told = Told(pair, assessor.prefer(pair))
        start = time.process_time()
        sorter.take(told)
        ours.append(asked + time.process_time() - start)
    steps = [step for step in sorter.steps if isinstance(step, Told)]
    peer = min(_peer_seconds(n, steps) for _ in range(5))
    mean, median = float(np.mean(ours)), float(np.median(ours))
    print(
        f"n={n}: {1e3 * mean:.2f} ms of CPU a question (median {1e3 * median:.2f}), "
        f"scikit-learn's refit {1e3 * peer:.2f} ms, ratio {mean / peer:.2f}"
    )


def _peer_seconds(n: int, steps: Sequence[Told]) -> float:
    rows = np.zeros((len(steps), n))
    for row, step in zip(rows, steps, strict=True):
        row[step.pair[0]], row[step.pair[1]] = 1.0, -1.0
    wins = np.array([step.preference is Preference.FIRST for step in steps])
    start = time.process_time()
    LogisticRegression(fit_intercept=False).fit(rows, wins)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the robust sorter.")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--only", choices=[*CASES, "speed"])
    chosen = parser.parse_args()
    if chosen.only in (None, "speed"):
        measure_speed(50, 143)
        measure_speed(200, 143)
    if chosen.only != "speed":
        measure_quality([chosen.only] if chosen.only else list(CASES), chosen.runs)


if __name__ == "__main__":
    main()

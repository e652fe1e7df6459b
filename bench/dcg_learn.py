"""Seconds to learn gains from pairs of lists, beside scipy's bounded quasi-Newton method.

    python -m bench.dcg_learn

Prints one JSON object per line; ``times_faster`` compares both in the same run.
"""

import json
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from topkapi.analysis.dcglearn import DCGLearn
from topkapi.analysis.dcglearn.replication.simulated import random_pairs, true_gains
from topkapi.analysis.dcglearn.solver import GainProblem, penalty_matrix
from topkapi.analysis.typing import FloatArray


def least_seconds(work: Callable[[], object], times: int) -> float:
    """Return the least seconds of several runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure(data: int, n: int) -> dict[str, object]:
    """Time both solvers on ``n`` random pairs."""
    pool = random_pairs(n, true_gains(data).table, np.random.default_rng(1))
    rows = pool.differences * pool.signs[:, None]
    problem = GainProblem(rows, rows[:0], penalty_matrix(10, 5, "steps"), 5.0, 0.0)
    start, bounds = np.zeros(problem.gram.shape[0]), [(0.0, None)] * problem.gram.shape[0]
    ours = least_seconds(
        lambda: DCGLearn().fit_differences(rows, rows[:0], k=10, n_grades=5), times=15
    )

    def objective(steps: FloatArray) -> tuple[float, FloatArray]:
        value, gradient, *_ = problem.value(steps)
        return value, gradient

    peer = least_seconds(lambda: minimize(objective, start, jac=True, bounds=bounds), times=3)
    figures = {"ours_ms": round(1e3 * ours, 2), "theirs_ms": round(1e3 * peer, 1)}
    return (
        {"bench": "dcg-learn", "data": data, "pairs": n, "peer": "scipy L-BFGS-B"}
        | figures
        | {"times_faster": round(peer / ours, 1)}
    )


if __name__ == "__main__":
    for data, n in ((1, 800), (2, 800), (1, 5000)):
        print(json.dumps(measure(data, n)), flush=True)

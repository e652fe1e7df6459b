"""Coverage of the intervals of `topkapi plan`: do they hold the mean over the lists of a study?

    python -m bench.planning [--runs 2000] [--sorter heap] [--pool 8000]

Simulates a pool of queries with 1, 2 and 4 lists each. Every study draws the queries of a plan and
other queries of its own from it, and its mean kappa-NDCG and overlap are compared with the plan's
95 % intervals. Prints one JSON line per design; ``correlation`` is that of two lists of a query.
"""

import argparse
import json
from dataclasses import replace
from itertools import product

import numpy as np

from topkapi.analysis.typing import FloatArray
from topkapi.app.domain.pairs.simulated_assessors import Errors
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.simulation.plan_records import PlannedWork
from topkapi.app.services.simulation.planning import MOST_LISTS, mean_of_study
from topkapi.app.services.simulation.sessions import Results, Setting, run_setting

N, K, SESSIONS = 20, 5, 100  # pages, length of a list, simulated sessions of a plan


def pool_of(lists: int, queries: int, sorter: str, processes: int | None = None) -> Results:
    """Simulate the lists of many queries, by people as `topkapi plan` simulates them."""
    plan = replace(StudySettings(k=K, sorter=sorter).plan((), ""), order=tuple(range(N)))
    base = Setting(
        plan, error=0.0, ties=0, runs=lists * queries, seed=5, errors=Errors.PEOPLE, persistent=True
    )
    return run_setting(replace(base, lists=lists), processes=processes)


def held(values: FloatArray, lists: int, queries: int, runs: int) -> float:
    """Return how many intervals hold the mean of a study; values (pool, lists)."""
    rng, inside = np.random.default_rng([lists, queries]), 0
    simulated = min(lists, MOST_LISTS)
    planned = SESSIONS // simulated
    work = PlannedWork(queries, lists, people=1, seconds=20.0)
    for _ in range(runs):
        drawn = rng.choice(len(values), planned + queries, replace=False)
        sample = values[drawn[:planned], :simulated]
        low, high = mean_of_study(sample.ravel(), work, simulated)
        inside += low <= values[drawn[planned:]].mean() <= high
    return inside / runs


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the intervals of plans.")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--sorter", default="heap")
    parser.add_argument("--pool", type=int, default=8000)
    chosen = parser.parse_args()
    for lists in (1, 2, 4):
        found = pool_of(lists, chosen.pool, chosen.sorter)
        tables = {"kappa_ndcg": found.kappa_ndcg, "overlap": found.overlap}
        for queries, (name, values) in product((10, 30, 100), tables.items()):
            table = values.reshape(-1, lists)
            alike = float(np.corrcoef(table[:, 0], table[:, 1])[0, 1]) if lists > 1 else 0.0
            about = {"lists": lists, "queries": queries, "measure": name}
            share = held(table, lists, queries, chosen.runs)
            print(json.dumps({**about, "correlation": round(alike, 3), "held": share}), flush=True)


if __name__ == "__main__":
    main()

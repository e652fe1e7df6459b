"""Coverage of the intervals of error rates that are estimated from answers to pairs.

    .venv/bin/python -m bench.error_rates [--runs 60]

Simulates studies whose assessors see the worth of pages with normal noise, so that they reverse a
known share of random pairs, and counts how many 95 % intervals hold it. Prints one JSON line per
design.
"""

import argparse
import json

import numpy as np

from topkapi.analysis.agreement import Judgments, errors_of_answers, from_judgments
from topkapi.analysis.report.simulated import noise_of
from topkapi.analysis.typing import FloatArray

DESIGNS = {  # assessors, assessors per query, queries
    "4 people, 12 queries": (4, 4, 12),
    "4 people, 30 queries": (4, 4, 30),
    "4 people, 100 queries": (4, 4, 100),
    "rotation of 3 among 5, 12 queries": (5, 3, 12),
    "rotation of 3 among 5, 30 queries": (5, 3, 30),
    "rotation of 3 among 5, 100 queries": (5, 3, 100),
}
PAGES, PAIRS = 20, 60


def simulated_answers(
    rates: FloatArray, per_query: int, queries: int, rng: np.random.Generator
) -> Judgments:
    """Simulate answers to the same random pairs of a query by everyone who judges it."""
    ends = np.array(np.triu_indices(PAGES, k=1))
    rows = []
    for query in range(queries):
        worth = rng.normal(size=PAGES)
        left, right = ends[:, rng.permutation(ends.shape[1])[:PAIRS]]
        for assessor in np.sort((query + np.arange(per_query)) % rates.size).tolist():
            noise = noise_of(rates)[assessor] * rng.normal(0, np.sqrt(2), PAIRS)
            answer = np.sign(worth[left] - worth[right] + noise)
            rows.append((np.full(PAIRS, assessor), np.full(PAIRS, query), left, right, answer))
    columns = (np.concatenate(column) for column in zip(*rows, strict=True))
    names = ("assessor", "query", "left", "right", "answer")
    return Judgments.of(**dict(zip(names, columns, strict=True)))


def coverage(assessors: int, per_query: int, queries: int, runs: int) -> dict[str, float]:
    """Return how many intervals hold the true rate, and how many lie below and above it."""
    under, over, errors = [], [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        rates = np.clip(rng.beta(2, 8, assessors), 0.02, 0.45)
        asked = simulated_answers(rates, per_query, queries, rng)
        found = errors_of_answers(from_judgments(asked, assessors, queries), seed=seed)
        under += (found.high < rates).tolist()
        over += (found.low > rates).tolist()
        errors += (found.value - rates).tolist()
    shares = {"held": 1 - np.mean(under) - np.mean(over), "understated": np.mean(under)}
    shares |= {"overstated": np.mean(over), "bias": np.mean(errors)}
    return {name: round(float(share), 4) for name, share in shares.items()}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=60)
    runs = parser.parse_args().runs
    for name, design in DESIGNS.items():
        print(json.dumps({"design": name, "runs": runs, **coverage(*design, runs)}), flush=True)


if __name__ == "__main__":
    main()

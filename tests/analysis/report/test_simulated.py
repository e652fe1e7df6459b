"""Known error rates: the report finds the order of assessors, and its intervals hold the truth."""

import numpy as np
import pytest

from tests.simulated_study import noise_of, simulated_study
from topkapi.analysis.agreement import agreement, from_scores, pair_tables, resamples
from topkapi.analysis.typing import FloatArray, IntArray

ERRORS = (0.02, 0.10, 0.17, 0.24, 0.32)


@pytest.mark.parametrize("error", [0.05, 0.2])
def test_noise_turns_the_stated_share_of_pairs(error: float) -> None:
    rng = np.random.default_rng(1)
    worth, noise = rng.normal(size=(2, 200_000)), rng.normal(size=(2, 200_000))
    seen = worth + noise_of(np.array(error)) * noise
    turned = (worth[0] < worth[1]) != (seen[0] < seen[1])
    assert turned.mean() == pytest.approx(error, abs=0.004)


def share(sums: FloatArray) -> FloatArray:
    return agreement(sums.reshape(-1, 3, 3))


def by_query(seed: int, queries: int = 50) -> list[tuple[FloatArray, IntArray]]:
    """Return tables and strata of every query, for each tool."""
    made = simulated_study(ERRORS, queries=queries, documents=20, rounds=2, answers=0, seed=seed)
    tables = [pair_tables(from_scores(tool.scores, 5, queries)) for tool in made.tools]
    return [(each.by_query().reshape(queries, 9).astype(float), each.strata()) for each in tables]


@pytest.mark.thorough
def test_intervals_hold_the_true_agreement_about_95_of_100_times() -> None:
    """Check 120 studies: between 90 and 99 % under each tool."""
    truth = [float(share(sums.sum(axis=0))[0]) for sums, _ in by_query(10**6, queries=5000)]
    held = np.zeros(2)
    for seed in range(120):
        for tool, (sums, strata) in enumerate(by_query(seed)):
            drawn = resamples(np.ones(50), strata=strata, draws=400, seed=seed)
            low, high = drawn.interval(sums, share)
            held[tool] += float(low) <= truth[tool] <= float(high)
    assert ((held / 120 >= 0.90) & (held / 120 <= 0.99)).all(), held / 120

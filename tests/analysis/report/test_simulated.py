"""Known error rates: the report finds the order of assessors, and its intervals hold the truth."""

import numpy as np
import pytest
from scipy import stats

from topkapi.analysis.agreement import (
    agreement,
    errors_of_lists,
    from_scores,
    pair_tables,
    resamples,
)
from topkapi.analysis.report.sections.consensus import agreement_weights
from topkapi.analysis.report.simulated import noise_of, simulated_study
from topkapi.analysis.typing import FloatArray, IntArray

ERRORS = (0.02, 0.10, 0.17, 0.24, 0.32)


@pytest.mark.parametrize("error", [0.05, 0.2])
def test_noise_turns_the_stated_share_of_pairs(error: float) -> None:
    rng = np.random.default_rng(1)
    worth, noise = rng.normal(size=(2, 200_000)), rng.normal(size=(2, 200_000))
    seen = worth + noise_of(np.array(error)) * noise
    turned = (worth[0] < worth[1]) != (seen[0] < seen[1])
    assert turned.mean() == pytest.approx(error, abs=0.004)


@pytest.mark.thorough
def test_the_order_of_five_assessors_is_recovered() -> None:
    """Check the rotation, where agreement with the rest depends on who the rest are.

    Of eight studies in two orders of the assessors, both tools together: the mean rank correlation
    with the known rates is at least .8, and at least that of agreement with the rest; the worst
    assessor is found in most.
    """
    ours, plain, worst = [], [], []
    for seed, order in enumerate([(0, 1, 2, 3, 4), (3, 0, 4, 2, 1)] * 4):
        errors = [ERRORS[i] for i in order]
        rates, shares = np.array(estimated(errors, seed)).mean(axis=0)
        ours.append(stats.spearmanr(rates, errors).statistic)
        plain.append(stats.spearmanr(-shares, errors).statistic)
        worst.append(rates.argmax() == np.argmax(errors))
    assert np.mean(ours) >= 0.8
    assert np.mean(ours) >= np.mean(plain)
    assert np.mean(worst) >= 0.8


def estimated(errors: list[float], seed: int) -> list[tuple[FloatArray, FloatArray]]:
    """Return error rates and agreement with the rest by tool, of 50 queries in two rounds."""
    made = simulated_study(errors, queries=50, documents=50, rounds=2, answers=0, seed=seed)
    found = []
    for tool in made.tools:
        tables = pair_tables(from_scores(tool.scores, 5, 50))
        rates = errors_of_lists(tool.scores, tables, seed=seed).value
        found.append((rates, agreement_weights(tables)))
    return found


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

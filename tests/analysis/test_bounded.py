"""Gaffke's bounds of a mean: against closed forms, random weights, and enumerated samples."""

import math
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.cases import each_case
from topkapi.analysis.bounded import mean_above, mean_interval, weighted_above


def test_zeros_and_ones_have_the_interval_of_clopper_and_pearson() -> None:
    for n in (5, 12, 30):
        for wins in range(n + 1):
            values = np.repeat([0.0, 1.0], [n - wins, wins])
            exact = stats.binomtest(wins, n).proportion_ci(method="exact")
            assert mean_interval(values, (0, 1)) == pytest.approx((exact.low, exact.high), abs=1e-6)
            p = stats.binomtest(wins, n, 0.3, alternative="greater").pvalue
            assert mean_above(values, 0.3, 0.0) == pytest.approx(p, abs=1e-6)


@each_case(("n", "threshold"), [(2, 0.4), (5, 0.6), (12, 0.55), (60, 0.5)])
def test_probabilities_are_those_of_drawn_weights(n: int, threshold: float) -> None:
    rng = np.random.default_rng(n)
    values = rng.random(n)
    drawn = rng.dirichlet(np.ones(n), 200_000) @ values
    share = float((drawn > threshold).mean())
    assert weighted_above(values, threshold) == pytest.approx(share, abs=0.005)


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.999, 1.0]), min_size=2, max_size=30),
    st.randoms(use_true_random=False),
)
def test_an_interval_lies_around_the_mean_and_follows_the_scale(
    drawn: list[float], random: object
) -> None:
    values = np.array(drawn)
    low, high = mean_interval(values, (0, 1))
    assert 0 <= low <= values.mean() <= high <= 1
    assert high - low > 0
    turned = mean_interval(1 - values, (0, 1))
    assert turned == pytest.approx((1 - high, 1 - low), abs=1e-6)
    wide = mean_interval(2 * values - 1, (-1, 1))
    assert wide == pytest.approx((2 * low - 1, 2 * high - 1), abs=1e-6)
    random.shuffle(drawn)  # type: ignore[attr-defined]
    assert mean_interval(np.array(drawn), (0, 1)) == (low, high)


def test_intervals_hold_the_mean_of_skewed_values() -> None:
    """Every sample of six among three values, weighted by its probability."""
    worths, n = np.array([0.0, 0.3, 1.0]), 6
    samples = list(combinations_with_replacement(range(3), n))
    ends = [mean_interval(worths[list(sample)], (0, 1)) for sample in samples]
    for shares in ((0.8, 0.1, 0.1), (0.95, 0.0, 0.05), (0.0, 0.9, 0.1), (0.3, 0.4, 0.3)):
        mean, held = float(worths @ shares), 0.0
        for sample, (low, high) in zip(samples, ends, strict=True):
            counts = [sample.count(value) for value in range(3)]
            ways = math.factorial(n) / math.prod(map(math.factorial, counts))
            chance = ways * math.prod(s**c for s, c in zip(shares, counts, strict=True))
            held += chance * (low <= mean <= high)
        assert held >= 0.95

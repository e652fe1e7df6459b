"""Intervals of groups: leaving out queries by hand, and coverage with few shared queries."""

import numpy as np
import pytest
from scipy import stats

from tests.simulated_study import noise_of
from topkapi.analysis.agreement import agreement, cohen_kappa, resamples
from topkapi.analysis.jackknife import Scale, jackknife
from topkapi.analysis.report.figures import OVERALL, group_figures
from topkapi.analysis.typing import FloatArray


def share(sums: FloatArray) -> FloatArray:
    return agreement(sums.reshape(*sums.shape[:-1], 3, 3))


def kappa(sums: FloatArray) -> FloatArray:
    return cohen_kappa(sums.reshape(*sums.shape[:-1], 3, 3))


def tables(rng: np.random.Generator, queries: int, n: int = 15, k: int = 5) -> FloatArray:
    """Simulate the votes of two assessors with errors of 3 and 8 % on top-k lists, (queries, 9)."""
    noise = noise_of(np.array([0.03, 0.08]))[None, :, None]
    seen = rng.normal(size=(queries, 1, n)) + noise * rng.normal(size=(queries, 2, n))
    rank = np.argsort(np.argsort(-seen, axis=2), axis=2)
    labels = np.maximum(k - rank, 0)
    first, second = np.triu_indices(n, k=1)
    votes = 1 - np.sign(labels[:, :, first] - labels[:, :, second])
    codes = 3 * votes[:, 0] + votes[:, 1]
    return np.stack([np.bincount(row, minlength=9) for row in codes]).astype(float)


def test_ends_are_those_of_leaving_out_each_query_by_hand() -> None:
    rng = np.random.default_rng(0)
    rows = tables(rng, 9)
    values = np.array([kappa(np.delete(rows, q, axis=0).sum(axis=0)) for q in range(9)])
    variance = 8 / 9 * np.sum((values - np.mean(values)) ** 2)
    z, whole = np.arctanh(kappa(rows.sum(axis=0))), kappa(rows.sum(axis=0))
    half = stats.t.ppf(0.975, 8) * np.sqrt(variance) / (1 - whole**2)
    query, group = np.tile(np.arange(9), 2), np.repeat([0, 2], 9)
    both = np.concatenate([rows, rng.permuted(rows, axis=1)])
    found = jackknife(query, group, both, 3, kappa, scale="coefficient")
    assert float(found.value[0]) == pytest.approx(float(whole))
    ends = (float(found.low[0]), float(found.high[0]))
    assert ends == pytest.approx((np.tanh(z - half), np.tanh(z + half)))
    assert found.queries.tolist() == [9, 0, 9]
    assert np.isnan(found.low[1])


@pytest.mark.thorough
@pytest.mark.parametrize("queries", [12, 30])
@pytest.mark.parametrize(("figure", "scale"), [(share, "share"), (kappa, "coefficient")])
def test_intervals_of_a_pair_cover(queries: int, figure: object, scale: Scale) -> None:
    """Check 1,500 pairs at once: 92 to 97 % of the 95 % intervals hold the truth."""
    rng = np.random.default_rng(queries)
    assert callable(figure)
    truth = float(figure(tables(rng, 30_000).sum(axis=0)))
    pairs = 1500
    rows = tables(rng, queries * pairs)
    query, group = np.tile(np.arange(queries), pairs), np.repeat(np.arange(pairs), queries)
    found = jackknife(query, group, rows, pairs, figure, scale=scale)
    assert 0.92 <= np.mean((found.low <= truth) & (truth <= found.high)) <= 0.97


@pytest.mark.parametrize(("queries", "shown"), [(3, False), (6, True)])
def test_perfect_agreement_has_no_interval_of_no_width(queries: int, shown: bool) -> None:
    votes = np.tile([5.0, 0, 0, 0, 0, 0, 0, 0, 5], (queries, 1))
    drawn = resamples(np.ones(queries), draws=20)
    rows = (np.arange(queries), np.zeros(queries, dtype=int), votes)
    (found,) = group_figures(OVERALL, *rows, 1, drawn)
    assert found.value == 1
    assert (found.interval is not None) == shown
    if found.interval is not None:
        assert found.interval.low < 0.7

r"""Error rates from lists and grades, by the similarity of every two assessors.

The pairs of a list imply each other, so a list is one observation: Kendall's tau-b of two
assessors on a query. If both see the worth of pages with normal noise, what they see correlates by
:math:`\rho = r_a r_b` with :math:`r = \cos(\pi e)` for somebody who reverses a share e of random
pairs (Greiner; classical test theory). The mean of tau-b at a correlation is read from a curve that
is simulated for the lengths, ties and unordered rests of the study's own lists. The simulated lists
have the labels that are expected of the query and the assessor, not those of single lists, which
contain the noise already.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from topkapi.analysis.agreement.lists import tau_b
from topkapi.analysis.agreement.preferences import Scores
from topkapi.analysis.agreement.reliability.label_shares import are_counts_fixed, label_shares
from topkapi.analysis.agreement.reliability.rates import GRID, ErrorRates, Population, identified
from topkapi.analysis.agreement.tables import PairTables, ratio
from topkapi.analysis.lazy import stats
from topkapi.analysis.typing import FloatArray, IntArray

CORRELATIONS: FloatArray = np.sin(np.linspace(-0.5, 1, 25) * np.pi / 2)
SIMULATED = 60  # pairs of lists behind the curve
CELLS = 8_000_000  # of their page pairs at most
SETTLE = 100
SWEEPS = 60_000  # assessors x sweeps at most, but at least LEAST_SWEEPS sweeps
LEAST_SWEEPS = 150
LEAST_VARIANCE = 1e-4
_Deal = Callable[[FloatArray, FloatArray], IntArray]
FEWEST = 3  # degrees of freedom of the spread below which it is taken from the simulation alone


@dataclass(frozen=True, slots=True)
class _Curve:
    """Mean and variance of tau-b of two lists at every pair of rates of the grid."""

    mean: FloatArray
    variance: FloatArray


@dataclass(frozen=True, slots=True)
class _AssessorPairs:
    """Pairs of assessors (s,), the mean tau-b of their queries, and what these are worth.

    A query that m assessors judged has m - 1 independent comparisons among m (m - 1) / 2 pairs, so
    it adds 2 / m to the ``worth`` of a pair.
    """

    first: IntArray
    second: IntArray
    mean: FloatArray
    worth: FloatArray


def errors_of_lists(
    scores: tuple[Scores, ...], tables: PairTables, *, seed: int = 0, level: float = 0.95
) -> ErrorRates:
    """Estimate the share of random page pairs that every assessor reverses.

    Parameters
    ----------
    scores
        Labels of each query.
    tables
        Votes of every two assessors, from the same labels.
    seed
        Seed of the sampler.
    level
        Level of the intervals.

    Returns
    -------
    ErrorRates
        NaN where the shared queries cannot tell an assessor from the others.
    """
    tau = tau_b(tables.counts)
    defined = ~np.isnan(tau)
    if not defined.any():
        return ErrorRates.none(tables.n_assessors)
    rng = np.random.default_rng(seed)
    curve = _curve(scores, rng)
    pairs, spread, freedom = _observed(tables, tau, curve)
    draws = _draws(pairs, curve, spread, freedom, tables.n_assessors, rng)
    number = np.arange(pairs.first.size)
    shared = np.concatenate([number, number]), np.concatenate([pairs.first, pairs.second])
    return ErrorRates.of(draws, identified(*shared, tables.n_assessors), level)


def _observed(
    tables: PairTables, tau: FloatArray, curve: _Curve
) -> tuple[_AssessorPairs, float, int]:
    """Return the mean tau-b of every pair, its variance over that of the curve, and its freedom."""
    first, second, row = tables.pairs()
    known = ~np.isnan(tau)
    queries = np.bincount(row[known], minlength=first.size)
    judges = 0.5 + np.sqrt(0.25 + 2 * np.bincount(tables.query)[tables.query])
    worth: FloatArray = np.bincount(row[known], 2 / judges[known], first.size).astype(float)
    sums = np.bincount(row[known], tau[known], first.size)
    kept = queries > 0
    mean = sums / np.maximum(queries, 1)
    freedom = int((queries[kept] - 1).sum())
    pairs = _AssessorPairs(first[kept], second[kept], mean[kept], worth[kept])
    if freedom < FEWEST:
        return pairs, 1.0, 0
    squares = float(((tau - mean[row])[known] ** 2).sum())
    order = np.argsort(curve.mean.ravel())
    flat = curve.mean.ravel()[order], curve.variance.ravel()[order]
    expected = np.interp(pairs.mean, *flat) @ (queries[kept] - 1.0)
    return pairs, max(1.0, squares / float(expected)), freedom


def _draws(
    pairs: _AssessorPairs,
    curve: _Curve,
    spread: float,
    freedom: int,
    n_assessors: int,
    rng: Generator,
) -> FloatArray:
    """Draw the rates of all assessors, one after the other given the rest, (sweeps, n)."""
    neighbours = _neighbours(pairs, n_assessors)
    active = np.array([a for a, (other, _) in enumerate(neighbours) if other.size])
    rates = np.full(n_assessors, int(np.searchsorted(GRID, 0.15)))
    population = Population(rng)
    sweeps = max(LEAST_SWEEPS, min(600, SWEEPS // max(active.size, 1)))
    draws = np.empty((sweeps, n_assessors))
    for sweep in range(-SETTLE, sweeps):
        scale = spread * (freedom / rng.chisquare(freedom) if freedom else 1.0)
        for a in active.tolist():
            other, row = neighbours[a]
            mean, variance = curve.mean[:, rates[other]], curve.variance[:, rates[other]]
            variance = variance * scale / pairs.worth[row]
            misfit = (pairs.mean[row] - mean) ** 2 / variance + np.log(variance)
            rates[a] = population.draw_rate(-0.5 * misfit.sum(axis=1))
        population.update(rates[active])
        if sweep >= 0:
            draws[sweep] = GRID[rates]
    return draws


def _neighbours(pairs: _AssessorPairs, n_assessors: int) -> list[tuple[IntArray, IntArray]]:
    """Return for every assessor the others of their pairs, and the rows of these pairs."""
    who = np.concatenate([pairs.first, pairs.second])
    other = np.concatenate([pairs.second, pairs.first])
    row = np.tile(np.arange(pairs.first.size), 2)
    order = np.argsort(who, kind="stable")
    borders = np.searchsorted(who[order], np.arange(n_assessors + 1))
    return [(other[order[a:b]], row[order[a:b]]) for a, b in pairwise(borders)]


def _curve(scores: tuple[Scores, ...], rng: Generator) -> _Curve:
    """Simulate tau-b of two lists with the labels of the study, by correlation of what they saw."""
    several = [each for each in scores if each.assessors.size > 1 and each.values.shape[1] > 1]
    cells = max(each.values.shape[1] for each in several) ** 2
    times = max(4, min(SIMULATED, int(CELLS / cells / CORRELATIONS.size)))
    shares = label_shares(several)
    deal = _by_rank if are_counts_fixed(several) else _by_border
    drawn = rng.integers(len(several), size=times).tolist()
    taus = np.stack([_simulated(several[q], shares[q], deal, rng) for q in drawn], axis=1)
    mean = np.maximum.accumulate(np.nanmean(taus, axis=1))
    padded = np.pad(np.nanvar(taus, axis=1), 1, mode="edge")
    variance = np.maximum(np.convolve(padded, np.ones(3) / 3, "valid"), LEAST_VARIANCE)
    seen = np.cos(np.pi * GRID)
    rho = np.outer(seen, seen)
    return _Curve(np.interp(rho, CORRELATIONS, mean), np.interp(rho, CORRELATIONS, variance))


def _simulated(scores: Scores, shares: FloatArray, deal: _Deal, rng: Generator) -> FloatArray:
    """Deal labels to two assessors of a query by what they saw: tau-b at each correlation."""
    two = rng.permutation(scores.assessors.size)[:2]
    n = int((~np.isnan(scores.values[two])).all(axis=0).sum())
    worth, noise = rng.normal(size=(2, n))
    seen = np.outer(CORRELATIONS, worth) + np.outer(np.sqrt(1 - CORRELATIONS**2), noise)
    first, second = deal(worth[None], shares[two[0]])[0], deal(seen, shares[two[1]])
    one, other = np.sign(first[:, None] - first), np.sign(second[:, :, None] - second[:, None])
    scale = np.sqrt(np.abs(one).sum() * np.abs(other).sum(axis=(1, 2)))
    return ratio((one * other).sum(axis=(1, 2)), scale)


def _by_rank(seen: FloatArray, shares: FloatArray) -> IntArray:
    """Deal as many of each label as expected, as in a list of the best k."""
    n = seen.shape[1]
    labels = np.searchsorted(np.rint(n * shares), np.arange(n), side="right")
    return labels[np.argsort(np.argsort(seen, axis=1), axis=1)]


def _by_border(seen: FloatArray, shares: FloatArray) -> IntArray:
    """Deal the label between whose borders a page was seen, as in grading."""
    return np.searchsorted(stats.norm.ppf(shares), seen)

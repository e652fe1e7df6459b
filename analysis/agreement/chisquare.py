"""Is the difference in agreement between two tools more than chance?"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.errors import BadData
from topkapi.analysis.lazy import stats
from topkapi.analysis.typing import BoolArray, FloatArray

MOST_EXCHANGES = 2**12  # up to so many are enumerated, more are drawn
SLACK = 1e-12  # equal differences may differ by rounding


@dataclass(frozen=True, slots=True)
class ChiSquare:
    """Pearson's test of a 2 x 2 table; figures are NaN where a margin is empty.

    Attributes
    ----------
    statistic, yates
        Chi-square without and with Yates' correction.
    df
        Degrees of freedom.
    p, p_yates
        The p values of both.
    phi
        Effect size, the square root of chi-square over the number of votes.
    difference
        Difference in agreement.
    """

    statistic: float
    yates: float
    df: int
    p: float
    p_yates: float
    phi: float
    difference: float


def chi_square(
    agreed: tuple[float, float], total: tuple[float, float], *, df: int = 1
) -> ChiSquare:
    """Test agreed against disagreed votes under two tools by Pearson's chi-square.

    scipy corrects 2 x 2 tables by default; the published figures are without, so both are returned
    ([NGLC12]_, section 4.1.2).

    Parameters
    ----------
    agreed
        Votes that agree, one number per tool.
    total
        All votes, one number per tool.
    df
        Degrees of freedom where the test is undefined.

    Examples
    --------
    >>> found = chi_square((3650, 2680), (4899, 4900))
    >>> round(found.statistic, 2), round(chi_square((1093, 1991), (1218, 2396)).statistic, 2)
    (420.43, 28.45)
    """
    same, whole = np.asarray(agreed, dtype=float), np.asarray(total, dtype=float)
    if (same < 0).any() or (same > whole).any():
        raise BadData(f"agreed {agreed} is not between 0 and the totals {total}")
    table = np.stack([same, whole - same])
    difference = float(np.subtract(*ratio(same, whole)))
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        return ChiSquare(np.nan, np.nan, df, np.nan, np.nan, np.nan, difference)
    plain = stats.chi2_contingency(table, correction=False)
    corrected = stats.chi2_contingency(table, correction=True)
    phi = float(np.sqrt(plain.statistic / whole.sum()))
    return ChiSquare(
        float(plain.statistic),
        float(corrected.statistic),
        int(plain.dof),
        float(plain.pvalue),
        float(corrected.pvalue),
        phi,
        difference,
    )


@dataclass(frozen=True, slots=True)
class Permuted:
    """Result of a permutation test over whole queries.

    Attributes
    ----------
    difference
        Difference in agreement.
    p
        Two-sided p.
    exchanges
        Number of relabelings tried.
    exact
        Whether these are all relabelings.
    """

    difference: float
    p: float
    exchanges: int
    exact: bool


def permute_queries(
    agreed: FloatArray, total: FloatArray, *, draws: int = 9999, seed: int = 0
) -> Permuted:
    """Test the pooled agreement of two tools by exchanging the tools of whole queries.

    A query judged with both tools has its two results exchanged or not; queries judged with one
    tool swap their tools among themselves. p counts the relabelings at least as far from 0 as the
    observed one.

    Parameters
    ----------
    agreed
        Votes that agree, (n_queries, 2), by query and tool.
    total
        All votes, (n_queries, 2).
    draws
        Number of random relabelings, where not all are tried.
    seed
        Seed of the relabelings.

    Examples
    --------
    >>> permute_queries(np.array([[9, 5], [8, 6], [9, 4]]), np.full((3, 2), 10)).p
    0.25
    """
    agreed, total = np.asarray(agreed, dtype=float), np.asarray(total, dtype=float)
    used = total.sum(axis=1) > 0
    agreed, total = agreed[used], total[used]
    seen = float(np.subtract(*ratio(agreed.sum(axis=0), total.sum(axis=0))))
    if np.isnan(seen):
        return Permuted(seen, np.nan, 0, False)
    both: BoolArray = np.all(total > 0, axis=1)
    second: BoolArray = total[~both, 1] > 0
    exact = 2 ** int(both.sum()) * comb(second.size, int(second.sum())) <= MOST_EXCHANGES
    swaps = _all_swaps(both, second) if exact else _some_swaps(both, second, draws, seed)
    found = np.subtract(*ratio(_relabeled(agreed, swaps), _relabeled(total, swaps)))
    extreme = int((np.abs(found) >= abs(seen) - SLACK).sum())
    p = extreme / swaps.shape[0] if exact else (extreme + 1) / (swaps.shape[0] + 1)
    return Permuted(seen, float(p), int(swaps.shape[0]), exact)


def _relabeled(counts: FloatArray, swaps: BoolArray) -> FloatArray:
    """Return the sums of both tools when the queries of each swap change sides: (2, draws)."""
    moved = swaps.astype(float) @ (counts[:, 1] - counts[:, 0])
    return np.stack([counts[:, 0].sum() + moved, counts[:, 1].sum() - moved])


def _all_swaps(both: BoolArray, second: BoolArray) -> BoolArray:
    """Return every relabeling once: the queries that change tools, (ways, n_queries)."""
    n, single = int(both.sum()), second.size
    bits = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    chosen = list(combinations(range(single), int(second.sum())))
    moved = np.zeros((len(chosen), single), dtype=bool)
    for row, each in zip(moved, chosen, strict=True):
        row[list(each)] = True
    swaps = np.zeros((len(bits) * len(chosen), both.size), dtype=bool)
    swaps[:, both] = np.repeat(bits, len(chosen), axis=0)
    swaps[:, ~both] = np.tile(moved != second, (len(bits), 1))
    return swaps


def _some_swaps(both: BoolArray, second: BoolArray, draws: int, seed: int) -> BoolArray:
    rng = np.random.default_rng(seed)
    swaps = rng.random((draws, both.size)) < 0.5
    shuffled = rng.permuted(np.broadcast_to(second, (draws, second.size)), axis=1)
    swaps[:, ~both] = shuffled != second
    return swaps

r"""Similarity of two assessors' rankings of a query: Kendall's tau-b and rank-biased overlap."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from topkapi.analysis.agreement.preferences import Scores
from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.lazy import stats
from topkapi.analysis.typing import FloatArray, IntArray


def tau_b(counts: IntArray | FloatArray) -> FloatArray:
    r"""Compute Kendall's tau-b from tables (..., 3, 3) of one query's pairs.

    NaN if one of the two assessors ties everything.

    .. math:: (C - D) / \sqrt{(N - T_1)(N - T_2)}

    with C and D the pairs ordered alike and against each other, T the pairs an assessor ties
    [Ken45]_. Documents outside a top-k list are tied at its end.

    Parameters
    ----------
    counts
        Tables (..., 3, 3) of votes.

    Examples
    --------
    >>> float(tau_b(np.array([[3, 1, 0], [0, 1, 0], [1, 0, 0]])))
    0.4
    """
    table: FloatArray = np.asarray(counts, dtype=float)
    against = table[..., 0, 2] + table[..., 2, 0]
    score = table[..., 0, 0] + table[..., 2, 2] - against
    strict_rows = table[..., 0, :].sum(axis=-1) + table[..., 2, :].sum(axis=-1)
    strict_columns = table[..., :, 0].sum(axis=-1) + table[..., :, 2].sum(axis=-1)
    return ratio(score, np.sqrt(strict_rows * strict_columns))


@dataclass(frozen=True, slots=True)
class ListSimilarity:
    """Rank-biased overlap per query and pair of assessors.

    Attributes
    ----------
    query, first, second
        Indices (r,).
    rbo
        Overlap (r,).
    """

    query: IntArray
    first: IntArray
    second: IntArray
    rbo: FloatArray


def rbo_matrix(values: FloatArray, *, depth: int, persistence: float = 0.9) -> FloatArray:
    r"""Compute extrapolated rank-biased overlap (m, m) of score rows (m, n) down to ``depth``.

    .. math:: \frac{X_D}{D} p^D + \frac{1-p}{p} \sum_{d=1}^{D} \frac{X_d}{d} p^d

    [WMZ10]_, equation (30). Tied documents are taken in every order: :math:`X_d` is the expected
    overlap of the first d ranks [CU24]_; what an assessor left out of the list is one
    group tied at the end. Two assessors are compared on the documents that both judged; NaN where
    there are none.

    Parameters
    ----------
    values
        Scores (m, n); NaN where not judged.
    depth
        Number of ranks that are compared.
    persistence
        The p of rank-biased overlap.

    Examples
    --------
    >>> rbo_matrix(np.array([[3.0, 2, 1], [3, 2, 1], [1, 2, 3]]), depth=3).round(4)[0].tolist()
    [1.0, 1.0, 0.855]
    """
    matrix: FloatArray = np.full((len(values),) * 2, np.nan)
    patterns, pattern = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    for one, other in product(range(len(patterns)), repeat=2):
        rows, columns = np.flatnonzero(pattern == one), np.flatnonzero(pattern == other)
        shared = patterns[one] & patterns[other]
        if shared.any():
            mine, theirs = (
                _inside(values[np.ix_(each, shared)], depth) for each in (rows, columns)
            )
            matrix[np.ix_(rows, columns)] = _overlap(mine, theirs, persistence)
    return matrix


def _overlap(one: FloatArray, other: FloatArray, persistence: float) -> FloatArray:
    """Return the overlaps (m, l) of documents inside the first d, (depth, m, n), (depth, l, n)."""
    overlap = np.einsum("dmj,dlj->dml", one, other, optimize=True)
    ranks = np.arange(1, len(one) + 1)
    weights = (1 - persistence) / persistence * persistence**ranks / ranks
    weights[-1] += persistence ** len(one) / len(one)
    return np.tensordot(weights, overlap, axes=1)


def _inside(values: FloatArray, depth: int) -> FloatArray:
    """Return the probability that a document is among the first d: (depth, m, n).

    Ties are drawn at random.
    """
    last = stats.rankdata(-values, method="max", axis=1)
    top = stats.rankdata(-values, method="min", axis=1)
    d = np.arange(1, min(depth, values.shape[1]) + 1)[:, None, None]
    return np.clip((d - top + 1) / (last - top + 1), 0, 1)


def list_similarity(
    scores: Iterable[Scores], *, depth: int, persistence: float = 0.9
) -> ListSimilarity:
    """Compute the rank-biased overlap of every two assessors of every query.

    Parameters
    ----------
    scores
        Scores of each query.
    depth
        Number of ranks that are compared.
    persistence
        The p of rank-biased overlap.
    """
    none = np.zeros(0, dtype=np.int64)
    parts: list[tuple[IntArray, IntArray, IntArray, FloatArray]]
    parts = [(none, none, none, np.zeros(0))]
    for block in scores:
        first, second = np.triu_indices(block.assessors.size, k=1)
        if not first.size or not block.values.shape[1]:
            continue
        rbo = rbo_matrix(block.values, depth=depth, persistence=persistence)[first, second]
        known = ~np.isnan(rbo)
        first, second, rbo = first[known], second[known], rbo[known]
        query = np.full(first.size, block.query, dtype=np.int64)
        parts.append((query, block.assessors[first], block.assessors[second], rbo))
    return ListSimilarity(*(np.concatenate(column) for column in zip(*parts, strict=True)))

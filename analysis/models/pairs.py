"""Pairs of a better and a worse document of one query, and smooth losses over them.

Documents are kept in true order, so the worse partners of a document are a stretch of neighbours:
the pairs are the pattern of a sparse matrix in row form, and the Hessian needs no pair twice.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit

from analysis.data.ranking import RankingData
from analysis.data.topk import truth_order
from analysis.errors import BadData
from analysis.models.newton import Derivatives
from analysis.typing import FloatArray, IntArray

MarginLoss = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""Margins -> values, first and second derivatives."""


@dataclass(frozen=True)
class Pairs:
    """Every pair of ``data`` in which the first document has the higher label.

    ``features`` (n, d) and ``labels`` (n,) are rows in true order; the worse partners of row i are
    ``worse[starts[i]:starts[i+1]]``; ``weights`` (n_pairs,) multiply the loss of each pair.
    """

    features: FloatArray
    labels: FloatArray
    queries: IntArray
    starts: IntArray
    worse: IntArray
    weights: FloatArray

    @property
    def better(self) -> IntArray:
        """The first document of every pair, (n_pairs,)."""
        return np.repeat(np.arange(self.labels.size), np.diff(self.starts))

    def margins(self, scores: FloatArray) -> FloatArray:
        """Score of the better minus score of the worse document, (n_pairs,)."""
        return np.repeat(scores, np.diff(self.starts)) - scores[self.worse]


def make_pairs(data: RankingData, *, focused: bool = False, by_query: bool = False) -> Pairs:
    """Pairs of ``data`` by label; on top-k labels these are the pairs of [LGNC13]_, equation (7).

    ``focused`` keeps only pairs of a document in T with one in F (P_i of [NGLC12]_); ``by_query``
    gives each query the total weight 1.
    """
    order = truth_order(data, None)
    labels = np.minimum(data.labels[order], 1.0) if focused else data.labels[order]
    owner = data.queries
    border = np.ones(labels.size, dtype=bool)
    border[:-1] = (labels[1:] != labels[:-1]) | (owner[1:] != owner[:-1])
    group_end = np.flatnonzero(border)[
        np.searchsorted(np.flatnonzero(border), np.arange(labels.size))
    ]
    first_worse = group_end + 1
    counts = data.offsets[1:][owner] - first_worse
    starts = np.concatenate([[0], np.cumsum(counts)])
    worse = np.arange(starts[-1]) + np.repeat(first_worse - starts[:-1], counts)
    weights = np.ones(worse.size)
    if by_query:
        total = np.bincount(owner, counts, minlength=data.n_queries)
        weights = np.repeat(1.0 / np.maximum(total, 1.0)[owner], counts)
    features = np.asarray(data.features[order], dtype=np.float64)
    return Pairs(features, data.labels[order], owner, starts, worse, weights)


def require_pairs(pairs: Pairs) -> Pairs:
    """Refuse data in which no document is better than another."""
    if pairs.worse.size == 0:
        raise BadData("every query has one label only: there is no preference to learn from")
    return pairs


def logistic(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ln(1 + e^-m), RankNet's cross entropy: [LGNC13]_, equation (4)."""
    wrong = expit(-margins)
    return np.logaddexp(0.0, -margins), -wrong, wrong * (1.0 - wrong)


def squared_hinge(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """max(0, 1 - m)^2."""
    short = np.maximum(0.0, 1.0 - margins)
    return short * short, -2.0 * short, 2.0 * (short > 0)


def pair_loss(pairs: Pairs, weights: FloatArray, margin_loss: MarginLoss) -> Derivatives:
    """Sum of a margin loss over pairs with gradient and Hessian in the weights (d,).

    The Hessian is X'(D - W - W')X for the sparse matrix W of curvatures and its row and column
    sums D.
    """
    values, slopes, curves = margin_loss(pairs.margins(pairs.features @ weights))
    slopes, curves = slopes * pairs.weights, curves * pairs.weights
    pull = _row_sums(slopes, pairs) - np.bincount(pairs.worse, slopes, minlength=pairs.labels.size)
    degree = _row_sums(curves, pairs) + np.bincount(
        pairs.worse, curves, minlength=pairs.labels.size
    )
    n_rows = pairs.labels.size
    matrix = csr_array((curves, pairs.worse, pairs.starts), shape=(n_rows, n_rows))
    cross = pairs.features.T @ (matrix @ pairs.features)
    hessian = (pairs.features * degree[:, None]).T @ pairs.features - cross - cross.T
    return float(values @ pairs.weights), pairs.features.T @ pull, hessian


def _row_sums(values: FloatArray, pairs: Pairs) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(values)])
    result: FloatArray = sums[pairs.starts[1:]] - sums[pairs.starts[:-1]]
    return result

"""Pairs of a better and a worse document of one query, and smooth losses over them.

Documents are kept in true order, so the worse partners of a document are a stretch of neighbours:
the pairs are the pattern of a sparse matrix in row form, and the Hessian needs no pair twice. Pairs
are visited in chunks, so that full orders of hundreds of documents need no memory to speak of.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import truth_order
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.optimise.newton import Derivatives
from topkapi.analysis.typing import FloatArray, IntArray

MarginLoss = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""Margins -> values, first and second derivatives."""
CHUNK = 500_000


@dataclass(frozen=True)
class Chunk:
    """Pairs of the rows first .. first + len(counts) - 1: row first + i has counts[i] partners.

    ``worse`` (n_pairs,) are the partners' rows.
    """

    first: int
    counts: IntArray
    worse: IntArray

    @property
    def better(self) -> IntArray:
        """The row of the better document of every pair, (n_pairs,)."""
        return np.repeat(np.arange(self.first, self.first + self.counts.size), self.counts)

    @property
    def starts(self) -> IntArray:
        """Start of the pairs of each row, and the end, (n_rows + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int32)


@dataclass(frozen=True)
class Pairs:
    """Every pair of ``data`` in which the first document has the higher label.

    ``features`` (n, d), ``labels`` and ``queries`` (n,) are rows in true order; row i is better
    than the rows first_worse[i] .. last_worse[i] - 1. ``weights`` (n,) multiply the loss of every
    pair of the row's query.
    """

    features: FloatArray
    labels: FloatArray
    queries: IntArray
    first_worse: IntArray
    last_worse: IntArray
    weights: FloatArray

    @cached_property
    def counts(self) -> IntArray:
        """Number of documents that each row is better than, (n,)."""
        counts: IntArray = self.last_worse - self.first_worse
        return counts

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.counts.sum())

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights over pairs."""
        return float(self.weights @ self.counts)

    def chunks(self) -> Iterator[Chunk]:
        """Yield the pairs some rows at a time.

        They are cached when they fit one chunk.
        """
        if self.n_pairs <= CHUNK:
            yield self._everything
            return
        totals = np.cumsum(self.counts)
        first = 0
        while first < totals.size:
            done = int(totals[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(totals, done + CHUNK, side="right")))
            yield self._chunk(first, last)
            first = last

    @cached_property
    def _everything(self) -> Chunk:
        return self._chunk(0, self.counts.size)

    def _chunk(self, first: int, last: int) -> Chunk:
        counts = self.counts[first:last]
        starts = np.cumsum(counts) - counts
        shift = np.repeat(self.first_worse[first:last] - starts, counts)
        worse = np.arange(int(counts.sum())) + shift
        return Chunk(first, counts, worse.astype(np.int32))


def make_pairs(data: RankingData, *, focused: bool = False, by_query: bool = False) -> Pairs:
    """Make pairs of ``data`` by label.

    On top-k labels these are the pairs of [LGNC13]_, equation (7).

    ``focused`` keeps only pairs of a document in T with one in F (P_i of [NGLC12]_); ``by_query``
    gives each query the total weight 1.
    """
    order = truth_order(data, None)
    labels = np.minimum(data.labels[order], 1.0) if focused else data.labels[order]
    owner = data.queries
    border = np.ones(labels.size, dtype=bool)
    border[:-1] = (labels[1:] != labels[:-1]) | (owner[1:] != owner[:-1])
    ends = np.flatnonzero(border) + 1  # a row is better than what follows its group of equals
    first_worse = ends[np.searchsorted(ends, np.arange(labels.size), side="right")]
    last_worse = data.offsets[1:][owner]
    weights = np.ones(labels.size)
    if by_query:
        total = np.bincount(owner, last_worse - first_worse, minlength=data.n_queries)
        weights = 1.0 / np.maximum(total, 1.0)[owner]
    features = np.asarray(data.features[order], dtype=np.float64)
    return Pairs(features, data.labels[order], owner, first_worse, last_worse, weights)


def require_pairs(pairs: Pairs) -> Pairs:
    """Refuse data in which no document is better than another."""
    if pairs.n_pairs == 0:
        raise BadData("every query has one label only: there is no preference to learn from")
    return pairs


def logistic(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute ln(1 + e^-m), RankNet's cross entropy: [LGNC13]_, equation (4)."""
    small = np.exp(-np.abs(margins))
    rest = 1.0 / (1.0 + small)
    wrong = np.where(margins > 0, small * rest, rest)
    return np.maximum(-margins, 0.0) + np.log1p(small), -wrong, small * rest * rest


def squared_hinge(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Compute max(0, 1 - m)^2."""
    short = np.maximum(0.0, 1.0 - margins)
    return short * short, -2.0 * short, 2.0 * (short > 0)


def pair_loss(
    pairs: Pairs, weights: FloatArray, margin_loss: MarginLoss, *, label_margin: bool = False
) -> Derivatives:
    """Sum of a margin loss over pairs with gradient and Hessian in the weights (d,).

    The Hessian is X'(D - W - W')X for the sparse matrix W of curvatures and its row and column
    sums D. ``label_margin`` multiplies margins by y_u - y_v.
    """
    scores = pairs.features @ weights
    value, cross = 0.0, np.zeros((weights.size, weights.size))
    pull, degree = np.zeros(scores.size), np.zeros(scores.size)
    for chunk in pairs.chunks():
        gaps = label_gaps(pairs, chunk) if label_margin else 1.0
        margins = np.repeat(scores[_rows(chunk)], chunk.counts) - scores[chunk.worse]
        values, slopes, curves = margin_loss(gaps * margins)
        slopes, curves = gaps * slopes, gaps * gaps * curves
        value += float(pairs.weights[_rows(chunk)] @ _row_sums(values, chunk))
        pull += _net(slopes, chunk, scores.size, -1.0)
        degree += _net(curves, chunk, scores.size, 1.0)
        cross += _cross(pairs, chunk, curves)
    pull, degree = pull * pairs.weights, degree * pairs.weights
    hessian = (pairs.features * degree[:, None]).T @ pairs.features - cross - cross.T
    return value, pairs.features.T @ pull, hessian


def label_gaps(pairs: Pairs, chunk: Chunk) -> FloatArray:
    """Return y_u - y_v of every pair of a chunk, (n_pairs,)."""
    gaps: FloatArray = pairs.labels[chunk.better] - pairs.labels[chunk.worse]
    return gaps


def _rows(chunk: Chunk) -> slice:
    return slice(chunk.first, chunk.first + chunk.counts.size)


def _row_sums(values: FloatArray, chunk: Chunk) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(values)])[chunk.starts]
    return np.diff(sums)


def _net(values: FloatArray, chunk: Chunk, size: int, sign: float) -> FloatArray:
    """Sum over the pairs in which a row is better, plus ``sign`` times those where it is worse."""
    result = sign * np.bincount(chunk.worse, values, minlength=size)
    result[_rows(chunk)] += _row_sums(values, chunk)
    return result


def _cross(pairs: Pairs, chunk: Chunk, curves: FloatArray) -> FloatArray:
    """Compute X'WX for the curvatures W of one chunk, (d, d)."""
    if curves.size == 0:
        return np.zeros((pairs.features.shape[1], pairs.features.shape[1]))
    columns = slice(chunk.first, int(chunk.worse.max()) + 1)
    shape = (chunk.counts.size, columns.stop - columns.start)
    matrix = csr_array((curves, chunk.worse - np.int32(chunk.first), chunk.starts), shape=shape)
    weighted = pairs.features[_rows(chunk)] * pairs.weights[_rows(chunk), None]
    result: FloatArray = weighted.T @ (matrix @ pairs.features[columns])
    return result


def hinge_risk(
    weights: FloatArray, pairs: Pairs, *, label_margin: bool = False
) -> tuple[float, FloatArray]:
    """Compute the weighted sum of max(0, 1 - margin) over pairs, and a subgradient (d,)."""
    scores = pairs.features @ weights
    value, pull = 0.0, np.zeros(scores.size)
    for chunk in pairs.chunks():
        gaps = label_gaps(pairs, chunk) if label_margin else 1.0
        short = 1.0 - gaps * (np.repeat(scores[_rows(chunk)], chunk.counts) - scores[chunk.worse])
        wrong = short > 0
        value += float(pairs.weights[_rows(chunk)] @ _row_sums(np.where(wrong, short, 0.0), chunk))
        pull -= _net(np.where(wrong, gaps, 0.0), chunk, scores.size, -1.0)
    return value, pairs.features.T @ (pull * pairs.weights)

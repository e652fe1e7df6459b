"""Pairs of a better and a worse document of one query, and smooth losses over them.

Documents are kept in true order, so the worse partners of a document are a stretch of neighbours:
the pairs are the pattern of a sparse matrix in row form, and the Hessian needs no pair twice. Pairs
are visited in chunks, each with the features of its own documents only, so that memory does not
grow with the number of pairs, and time grows with it and not with the square of the documents.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from topkapi.analysis.data.padding import doubles
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import truth_order
from topkapi.analysis.errors import BadData
from topkapi.analysis.lazy import sparse
from topkapi.analysis.models.optimise.newton import Derivatives
from topkapi.analysis.typing import FloatArray, IntArray

MarginLoss = Callable[[FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
"""Margins -> values, first and second derivatives."""
CHUNK = 500_000  # pairs
DENSE = 1000  # pairs per query above which a query has a dense matrix of its own


@dataclass(frozen=True)
class PairChunk:
    """Pairs of the rows first .. first + len(counts) - 1.

    Row first + i has the counts[i] partners before row ends[i].
    """

    first: int
    counts: IntArray
    ends: IntArray

    @property
    def better(self) -> IntArray:
        """The row of the better document of every pair, (n_pairs,)."""
        return np.repeat(np.arange(self.first, self.first + self.counts.size), self.counts)

    @cached_property
    def worse(self) -> IntArray:
        """The row of the worse document of every pair, (n_pairs,)."""
        shift = np.repeat(self.ends - np.cumsum(self.counts), self.counts)
        return (np.arange(shift.size) + shift).astype(np.int32)

    @property
    def starts(self) -> IntArray:
        """Start of the pairs of each row, and the end, (n_rows + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int32)

    @cached_property
    def partners(self) -> IntArray:
        """Rows of the worse documents, counted from ``first``, (n_pairs,)."""
        return self.worse - np.int32(self.first)

    @property
    def rows(self) -> slice:
        """Rows from the first better document to the last worse one."""
        return slice(self.first, int(self.ends[-1]))

    def queries(self) -> Iterator[tuple[slice, slice]]:
        """Yield better and worse rows of each query that has pairs, counted from ``first``."""
        having = np.flatnonzero(self.counts)
        borders = np.flatnonzero(np.diff(self.ends[having], prepend=-1, append=-1))
        for start, stop in pairwise(borders.tolist()):
            top, low = int(having[start]), int(having[stop - 1]) + 1
            end = int(self.ends[top])
            yield slice(top, low), slice(end - int(self.counts[top]) - self.first, end - self.first)


@dataclass(frozen=True)
class Pairs:
    """Every pair of ``data`` in which the first document has the higher label.

    ``order``, ``labels`` and ``queries`` (n,) are rows in true order; row i is better than the rows
    first_worse[i] .. last_worse[i] - 1. ``weights`` (n,) multiply the loss of every pair of the
    row's query. ``unordered`` (n, d) are the features of the data as they are: ordering them would
    be a copy.
    """

    unordered: FloatArray
    order: IntArray
    labels: FloatArray
    queries: IntArray
    first_worse: IntArray
    last_worse: IntArray
    weights: FloatArray

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return int(self.queries[-1]) + 1

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.unordered.shape[1])

    @cached_property
    def features(self) -> FloatArray:
        """All features in true order, (n, d): for small data."""
        return doubles(self.unordered, self.order)

    def features_of(self, chunk: PairChunk) -> FloatArray:
        """Return the features of the rows of a chunk."""
        if self.n_pairs <= CHUNK:
            return self.features[chunk.rows]
        return doubles(self.unordered, self.order[chunk.rows])

    @cached_property
    def counts(self) -> IntArray:
        """Number of documents that each row is better than, (n,)."""
        return self.last_worse - self.first_worse

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return int(self.counts.sum())

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights over pairs."""
        return float(self.weights @ self.counts)

    def chunks(self) -> Iterator[PairChunk]:
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
    def _everything(self) -> PairChunk:
        return self._chunk(0, self.counts.size)

    def _chunk(self, first: int, last: int) -> PairChunk:
        return PairChunk(first, self.counts[first:last], self.last_worse[first:last])


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
    labels = data.labels[order]
    return Pairs(data.features, order, labels, owner, first_worse, last_worse, weights)


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

    The Hessian is X'(D - W - W')X for the matrix W of curvatures and its row and column sums D.
    ``label_margin`` multiplies margins by y_u - y_v. W is dense for each query of many pairs, and
    else one sparse matrix for the queries of a chunk.
    """
    value, gradient = 0.0, np.zeros(weights.size)
    half = np.zeros((weights.size, weights.size))
    visit = _query_by_query if pairs.n_pairs > DENSE * pairs.n_queries else _all_at_once
    for chunk in pairs.chunks():
        features, scale = pairs.features_of(chunk), pairs.weights[chunk.rows]
        labels = pairs.labels[chunk.rows] if label_margin else None
        sums, pull, curved = visit(features, features @ weights, chunk, margin_loss, labels)
        value += float(scale @ sums)
        gradient += features.T @ (scale * pull)
        curved *= scale[:, None]
        half += features.T @ curved
    return value, gradient, (half + half.T) / 2.0


def _all_at_once(
    features: FloatArray,
    scores: FloatArray,
    chunk: PairChunk,
    margin_loss: MarginLoss,
    labels: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the loss (m,) and its slope (m,) by row, and (D - 2W)X (m, d)."""
    gaps = 1.0 if labels is None else _margins(labels, chunk)
    values, slopes, curves = margin_loss(gaps * _margins(scores, chunk))
    curves = gaps * gaps * curves
    size = chunk.counts.size
    curved = features * _net(curves, chunk, 1.0)[:, None]
    matrix = sparse.csr_array((curves, chunk.partners, chunk.starts), shape=(size, scores.size))
    curved[:size] -= 2.0 * np.asarray(matrix @ features)
    sums = np.zeros(scores.size)
    sums[:size] = _row_sums(values, chunk)
    return sums, _net(gaps * slopes, chunk, -1.0), curved


def _query_by_query(
    features: FloatArray,
    scores: FloatArray,
    chunk: PairChunk,
    margin_loss: MarginLoss,
    labels: FloatArray | None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the same by one dense matrix per query, which is faster for queries of many pairs."""
    sums, pull, degree = np.zeros((3, scores.size))
    curved = np.zeros(features.shape)
    first_worse = chunk.ends - chunk.counts - chunk.first
    for better, worse in chunk.queries():
        wins = np.arange(worse.start, worse.stop) >= first_worse[better, None]
        gaps = wins if labels is None else wins * (labels[better, None] - labels[worse])
        values, slopes, curves = margin_loss(gaps * (scores[better, None] - scores[worse]))
        slopes, curves = gaps * slopes, gaps * gaps * curves
        sums[better] = (wins * values).sum(axis=1)
        pull[better] += slopes.sum(axis=1)
        pull[worse] -= slopes.sum(axis=0)
        degree[better] += curves.sum(axis=1)
        degree[worse] += curves.sum(axis=0)
        curved[better] = -2.0 * (curves @ features[worse])
    curved += features * degree[:, None]
    return sums, pull, curved


def _margins(scores: FloatArray, chunk: PairChunk) -> FloatArray:
    """Return the score of the better document less that of the worse one, (n_pairs,)."""
    margins: FloatArray = np.repeat(scores[: chunk.counts.size], chunk.counts)
    margins -= scores[chunk.partners]
    return margins


def _row_sums(values: FloatArray, chunk: PairChunk) -> FloatArray:
    sums = np.concatenate([[0.0], np.cumsum(values)])[chunk.starts]
    return np.diff(sums)


def _net(values: FloatArray, chunk: PairChunk, sign: float) -> FloatArray:
    """Sum over the pairs in which a row is better, plus ``sign`` times those where it is worse."""
    size = chunk.rows.stop - chunk.rows.start
    result = sign * np.bincount(chunk.partners, values, minlength=size)
    result[: chunk.counts.size] += _row_sums(values, chunk)
    return result


def hinge_risk(
    weights: FloatArray, pairs: Pairs, *, label_margin: bool = False
) -> tuple[float, FloatArray]:
    """Compute the weighted sum of max(0, 1 - margin) over pairs, and a subgradient (d,)."""
    value, slope = 0.0, np.zeros(weights.size)
    for chunk in pairs.chunks():
        features, scale = pairs.features_of(chunk), pairs.weights[chunk.rows]
        gaps = _margins(pairs.labels[chunk.rows], chunk) if label_margin else 1.0
        short = 1.0 - gaps * _margins(features @ weights, chunk)
        wrong = short > 0
        sums = _row_sums(np.where(wrong, short, 0.0), chunk)
        value += float(scale[: sums.size] @ sums)
        net = _net(np.where(wrong, gaps, 0.0), chunk, -1.0)
        slope -= features.T @ (scale * net)
    return value, slope

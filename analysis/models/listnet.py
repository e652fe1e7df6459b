"""ListNet with top-one probabilities, and its top-k form."""

from typing import Self

import numpy as np

from topkapi.analysis.data.padding import doubles, query_spans
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.optimise.newton import Derivatives, newton
from topkapi.analysis.typing import FloatArray, IntArray


def softmax_by_query(scores: FloatArray, offsets: IntArray) -> tuple[FloatArray, FloatArray]:
    """Compute softmax within each query (n_rows,) and the log of its normaliser (n_queries,)."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    top = np.maximum.reduceat(scores, starts)
    powers = np.exp(scores - np.repeat(top, sizes))
    total = np.add.reduceat(powers, starts)
    return powers / np.repeat(total, sizes), np.log(total) + top


def listnet_loss(
    weights: FloatArray, features: FloatArray, target: FloatArray, offsets: IntArray
) -> Derivatives:
    """Cross entropy of top-one probabilities, summed over queries, with gradient and Hessian.

    ``target`` (n_rows,) sums to 1 within each query: [CQL07]_, equation (3).
    """
    value, gradient = 0.0, np.zeros(weights.size)
    hessian = np.zeros((weights.size, weights.size))
    for queries in query_spans(offsets):
        borders = offsets[queries.start : queries.stop + 1]
        rows = slice(int(borders[0]), int(borders[-1]))
        some, borders = doubles(features, rows), borders - borders[0]
        scores = some @ weights
        chances, normaliser = softmax_by_query(scores, borders)
        value += float(normaliser.sum() - target[rows] @ scores)
        weighted = some * chances[:, None]
        means = np.add.reduceat(weighted, borders[:-1], axis=0)
        gradient += some.T @ (chances - target[rows])
        hessian += some.T @ weighted - means.T @ means
    return value, gradient, hessian


def with_preferences(data: RankingData) -> RankingData:
    """Select queries with more than one label, or all if there are none, for a neutral result."""
    low = np.minimum.reduceat(data.labels, data.offsets[:-1])
    high = np.maximum.reduceat(data.labels, data.offsets[:-1])
    useful = np.flatnonzero(high > low)
    return data.select(useful) if 0 < useful.size < data.n_queries else data


class ListNet(LinearRanker):
    r"""Linear ListNet ([CQL07]_): cross entropy of softmax(labels) and softmax(scores).

    Queries with one label only are left out: their target is uniform and only shrinks the weights.

    Parameters
    ----------
    l2
        Penalty of the weights.
    """

    name = "listnet"

    def __init__(self, *, l2: float = 0.1) -> None:
        self.l2 = l2

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by exact Newton steps."""
        data = with_preferences(data)
        target, _ = softmax_by_query(data.labels, data.offsets)
        start = np.zeros(data.n_features)
        self.coef_ = newton(
            lambda w: listnet_loss(w, data.features, target, data.offsets), start, self.l2
        )
        return self


class TopKListNet(ListNet):
    """Top-k ListNet ([XLL09]_, section 4.3.3): the mapping keeps the order of the first k.

    The mapping is k + 1 - rank for the first k documents and 0, one small value, for the rest;
    grades are put into a random order by ``seed`` first.

    Parameters
    ----------
    k
        Length of the top-k ground truth.
    l2
        Penalty of the weights.
    seed
        Seed of the order of equal grades.
    """

    name = "topk-listnet"

    def __init__(self, *, k: int = 10, l2: float = 0.1, seed: int = 0) -> None:
        super().__init__(l2=l2)
        self.k, self.seed = k, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn from the top-k ground truth of ``data``."""
        return super().fit(to_topk(data, self.k, seed=self.seed), validation)

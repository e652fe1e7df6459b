"""TopMargin: a structural SVM for the top of the list, margin scaling."""

from collections.abc import Callable
from typing import ClassVar, Self

import numpy as np

from topkapi.analysis.data.padding import scores_of, slope_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.optimise.cutting_planes import Oracle, cutting_planes
from topkapi.analysis.models.oracles.top_lists import (
    TopLists,
    TopLoss,
    add_pull,
    margin_violation,
    top_lists,
)
from topkapi.analysis.models.regression import Regression
from topkapi.analysis.typing import FloatArray, IntArray

Violation = Callable[[TopLists, FloatArray], tuple[FloatArray, FloatArray, IntArray]]


class TopMargin(LinearRanker):
    r"""TopMargin ([CSX15]_, section 4.1.1): |w|^2/2 + C times the mean slack over queries.

    .. math:: \xi_i = \max_y \Delta(y_i, y) - w\,(\Psi(x_i, y_i) - \Psi(x_i, y))

    ``loss`` and ``n`` define Delta: NDCG@n or Precision@n (equations (12), (13)). The true
    order of documents with equal labels is open and decides the result: it starts as regression's
    order and is taken from the model ``rebreaks`` times. Queries in which no ranking is wrong teach
    nothing and only count in the mean.

    Parameters
    ----------
    n
        Depth of the loss.
    c
        Weight of the mean slack against the penalty.
    loss
        ``ndcg`` or ``precision``.
    rebreaks
        How often ties of the true order are broken again by the model.
    epsilon
        Distance from the least mean slack at which the optimiser stops.
    """

    name = "top-margin"
    violation: ClassVar[Violation] = staticmethod(margin_violation)

    def __init__(
        self,
        *,
        n: int = 10,
        c: float = 100.0,
        loss: TopLoss = "ndcg",
        rebreaks: int = 3,
        epsilon: float = 1e-3,
    ) -> None:
        self.n, self.c, self.loss = n, c, loss
        self.rebreaks, self.epsilon = rebreaks, epsilon

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by cutting planes, once and again for each re-breaking of ties."""
        lists = top_lists(data, self.n, self.loss)
        if not lists:
            raise BadData("no query has a more and a less relevant document to put in order")
        scores = Regression().fit(data).predict(data)
        for _ in range(self.rebreaks + 1):
            lists = [part.with_ties_by(scores) for part in lists]
            risk = self.risk(data, lists)
            self.coef_ = cutting_planes(risk, data.n_features, self.c, epsilon=self.epsilon)
            scores = scores_of(data.features, self.coef_)
        return self

    def risk(self, data: RankingData, lists: list[TopLists]) -> Oracle:
        """Return the mean slack over the queries of ``data``, as an oracle."""
        violation = type(self).violation

        def risk(weights: FloatArray) -> tuple[float, FloatArray]:
            scores, pull = scores_of(data.features, weights), np.zeros(data.n_rows)
            total = 0.0
            for part in lists:
                own = np.where(part.filled, scores[part.rows], -np.inf)
                slacks, multiplier, rankings = violation(part, own)
                total += float(slacks.sum())
                add_pull(pull, part, multiplier, rankings)
            return total / data.n_queries, slope_of(data.features, pull) / data.n_queries

        return risk

"""RankSVM with hinge or squared hinge."""

from typing import Literal, Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.losses.pairs import (
    Pairs,
    hinge_risk,
    make_pairs,
    pair_loss,
    require_pairs,
    squared_hinge,
)
from topkapi.analysis.models.optimise.cutting_planes import cutting_planes
from topkapi.analysis.models.optimise.newton import Derivatives, newton
from topkapi.analysis.typing import FloatArray

PairLoss = Literal["squared-hinge", "hinge"]


class RankSVM(LinearRanker):
    r"""RankSVM ([HGO00]_; [LGNC13]_, equations (2) and (7)).

    .. math:: \tfrac12 |w|^2 + C \sum_{y_u > y_v} \ell(w x_u - w x_v)

    ``loss`` is the squared hinge (Newton, exact) or the hinge (cutting planes, to ``epsilon`` of
    the mean loss). ``by_query`` lets the pairs of a query weigh 1 together. ``label_margin``
    multiplies the margin by y_u - y_v as [NGLC12]_ print it, which asks least of the best document.
    With ``k`` the model learns from the top-k ground truth of the data.

    Parameters
    ----------
    c
        Weight of the loss against the penalty.
    loss
        ``squared-hinge`` (Newton, exact) or ``hinge`` (cutting planes).
    by_query
        Whether the pairs of a query weigh 1 together.
    label_margin
        Whether margins are multiplied by y_u - y_v, as printed in [NGLC12]_.
    k
        Length of the top-k ground truth to learn from; None for the labels of the data.
    epsilon
        Distance from the least mean loss at which cutting planes stop.
    seed
        Seed of the order of equal grades.
    """

    name = "ranksvm"

    def __init__(
        self,
        *,
        c: float = 0.01,
        loss: PairLoss = "squared-hinge",
        by_query: bool = False,
        label_margin: bool = False,
        k: int | None = None,
        epsilon: float = 1e-3,
        seed: int = 0,
    ) -> None:
        self.c, self.loss, self.by_query, self.label_margin = c, loss, by_query, label_margin
        self.k, self.epsilon, self.seed = k, epsilon, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights."""
        if self.c <= 0:
            raise BadData(f"C must be above 0, not {self.c}")
        data = data if self.k is None else to_topk(data, self.k, seed=self.seed)
        pairs = require_pairs(make_pairs(data, by_query=self.by_query))
        self.coef_ = self._hinge(pairs) if self.loss == "hinge" else self._squared(pairs)
        return self

    def _squared(self, pairs: Pairs) -> FloatArray:
        def loss(weights: FloatArray) -> Derivatives:
            return pair_loss(pairs, weights, squared_hinge, label_margin=self.label_margin)

        return newton(loss, np.zeros(pairs.n_features), 1.0 / self.c)

    def _hinge(self, pairs: Pairs) -> FloatArray:
        total = pairs.total_weight  # the mean loss keeps epsilon independent of size

        def risk(weights: FloatArray) -> tuple[float, FloatArray]:
            value, slope = hinge_risk(weights, pairs, label_margin=self.label_margin)
            return value / total, slope / total

        size = pairs.n_features
        return cutting_planes(risk, size, self.c * total, epsilon=self.epsilon)

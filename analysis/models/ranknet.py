"""RankNet with a linear scorer: cross entropy over pairs."""

from typing import Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.losses.pairs import logistic, make_pairs, pair_loss, require_pairs
from topkapi.analysis.models.optimise.newton import newton


class RankNet(LinearRanker):
    r"""Linear RankNet ([BSR05]_; [LGNC13]_, equations (4) and (7)).

    .. math:: \sum_{i} \sum_{y_u > y_v} \ln(1 + e^{-w(x_u - x_v)}) + \tfrac{l2}{2} |w|^2

    With ``k`` the model learns from the top-k ground truth of the data (grades are put into a
    random order by ``seed`` first); without, from every pair of different labels.

    Parameters
    ----------
    l2
        Penalty of the weights.
    k
        Length of the top-k ground truth to learn from; None for every pair of different labels.
    seed
        Seed of the order of equal grades.
    """

    name = "ranknet"

    def __init__(self, *, l2: float = 10.0, k: int | None = None, seed: int = 0) -> None:
        self.l2, self.k, self.seed = l2, k, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn the weights by exact Newton steps."""
        data = data if self.k is None else to_topk(data, self.k, seed=self.seed)
        pairs = require_pairs(make_pairs(data))
        start = np.zeros(data.n_features)
        self.coef_ = newton(lambda w: pair_loss(pairs, w, logistic), start, self.l2)
        return self

"""RankSVM with hinge or squared hinge."""

from typing import Literal, Self

import numpy as np

from analysis.data.ranking import RankingData
from analysis.data.topk import to_topk
from analysis.models.base import LinearRanker
from analysis.models.cutting import cutting_planes
from analysis.models.newton import newton
from analysis.models.pairs import Pairs, make_pairs, pair_loss, require_pairs, squared_hinge
from analysis.typing import FloatArray

PairLoss = Literal["squared-hinge", "hinge"]


def hinge_risk(
    weights: FloatArray, pairs: Pairs, gaps: FloatArray | None = None
) -> tuple[float, FloatArray]:
    """Weighted sum of max(0, 1 - gap * margin) over pairs and a subgradient (d,)."""
    margins = pairs.margins(pairs.features @ weights)
    scaled = margins if gaps is None else gaps * margins
    short = scaled < 1.0
    push = np.where(short, pairs.weights if gaps is None else pairs.weights * gaps, 0.0)
    sums = np.concatenate([[0.0], np.cumsum(push)])
    wins = sums[pairs.starts[1:]] - sums[pairs.starts[:-1]]
    pull = np.bincount(pairs.worse, push, minlength=pairs.labels.size) - wins
    value = float(pairs.weights @ np.where(short, 1.0 - scaled, 0.0))
    return value, pairs.features.T @ pull


def label_gaps(pairs: Pairs) -> FloatArray:
    """y_u - y_v of every pair, (n_pairs,)."""
    return pairs.labels[pairs.better] - pairs.labels[pairs.worse]


class RankSVM(LinearRanker):
    r"""RankSVM ([HGO00]_; [LGNC13]_, equations (2) and (7)).

    .. math:: \tfrac12 |w|^2 + C \sum_{y_u > y_v} \ell(w x_u - w x_v)

    ``loss`` is the squared hinge (Newton, exact) or the hinge (cutting planes, to ``epsilon`` of
    the mean loss). ``by_query`` lets the pairs of a query weigh 1 together. ``label_margin``
    multiplies the margin by y_u - y_v as [NGLC12]_ print it, which asks least of the best document.
    With ``k`` the model learns from the top-k ground truth of the data.
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

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:  # noqa: ARG002
        """Learn the weights."""
        data = data if self.k is None else to_topk(data, self.k, seed=self.seed)
        pairs = require_pairs(make_pairs(data, by_query=self.by_query))
        gaps = label_gaps(pairs) if self.label_margin else None
        self.coef_ = (
            self._hinge(pairs, gaps) if self.loss == "hinge" else self._squared(pairs, gaps)
        )
        return self

    def _squared(self, pairs: Pairs, gaps: FloatArray | None) -> FloatArray:
        def loss(margins: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
            if gaps is None:
                return squared_hinge(margins)
            values, slopes, curves = squared_hinge(gaps * margins)
            return values, gaps * slopes, gaps * gaps * curves

        start = np.zeros(pairs.features.shape[1])
        return newton(lambda w: pair_loss(pairs, w, loss), start, 1.0 / self.c)

    def _hinge(self, pairs: Pairs, gaps: FloatArray | None) -> FloatArray:
        total = float(pairs.weights.sum())  # the mean loss keeps epsilon independent of size

        def risk(weights: FloatArray) -> tuple[float, FloatArray]:
            value, slope = hinge_risk(weights, pairs, gaps)
            return value / total, slope / total

        size = pairs.features.shape[1]
        return cutting_planes(risk, size, self.c * total, epsilon=self.epsilon)

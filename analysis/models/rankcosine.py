"""RankCosine: the angle between scores and labels of a query, and its top-k form."""

from typing import Self

import numpy as np

from topkapi.analysis.data.padding import scores_of, slope_of
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.data.topk import to_topk
from topkapi.analysis.errors import DidNotConverge
from topkapi.analysis.lazy import optimize
from topkapi.analysis.models.base import LinearRanker
from topkapi.analysis.models.listnet import with_preferences
from topkapi.analysis.models.regression import Regression
from topkapi.analysis.typing import FloatArray, IntArray


def cosine_loss(
    weights: FloatArray, features: FloatArray, labels: FloatArray, offsets: IntArray
) -> tuple[float, FloatArray]:
    """Sum over queries of (1 - cos(labels, scores)) / 2 and its gradient: [QZT08]_; [XLL09]_ (11).

    A query whose labels are all 0, or whose scores are, has no angle: its loss is 1/2, its gradient
    0.
    """
    scores = scores_of(features, weights)
    starts, sizes = offsets[:-1], np.diff(offsets)
    dots = np.add.reduceat(labels * scores, starts)
    square = np.add.reduceat(scores * scores, starts)
    norms = np.sqrt(np.add.reduceat(labels * labels, starts) * square)
    defined = norms > 1e-150
    inverse = np.where(defined, 1.0 / np.where(defined, norms, 1.0), 0.0)
    cosines = dots * inverse
    along = np.where(defined, cosines / np.where(defined, square, 1.0), 0.0)
    pull = np.repeat(along, sizes) * scores - np.repeat(inverse, sizes) * labels
    return float((1.0 - cosines).sum() / 2.0), slope_of(features, pull) / 2.0


class RankCosine(LinearRanker):
    """Linear RankCosine ([QZT08]_), from the start that ridge regression gives.

    The loss does not depend on the length of the weights; they are returned with length 1.

    Parameters
    ----------
    max_steps
        Most steps of the optimiser.
    """

    name = "rankcosine"

    def __init__(self, *, max_steps: int = 20_000) -> None:
        self.max_steps = max_steps

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Minimise by L-BFGS; labels all equal give weights 0."""
        data = with_preferences(data)
        start = Regression(l2=1.0).fit(data).coef_
        length = float(np.linalg.norm(start))
        if length < 1e-12:
            self.coef_ = np.zeros(data.n_features)
            return self
        arguments = (data.features, data.labels, data.offsets)
        minimum = optimize.minimize(
            cosine_loss,
            start / length,
            arguments,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": self.max_steps,
                "maxfun": 3 * self.max_steps,
                "ftol": 1e-9,
                "gtol": 1e-4,
            },
        )
        if not minimum.success:
            raise DidNotConverge(f"RankCosine: {minimum.message}")
        self.coef_ = minimum.x / np.linalg.norm(minimum.x)
        return self


class TopKRankCosine(RankCosine):
    """Top-k RankCosine ([XLL09]_, section 4.3.2): the mapping keeps the order of the first k.

    The mapping is k + 1 - rank for the first k documents and 0 for the rest; grades are put into a
    random order by ``seed`` first.

    Parameters
    ----------
    k
        Length of the top-k ground truth.
    max_steps
        Most steps of the optimiser.
    seed
        Seed of the order of equal grades.
    """

    name = "topk-rankcosine"

    def __init__(self, *, k: int = 10, max_steps: int = 20_000, seed: int = 0) -> None:
        super().__init__(max_steps=max_steps)
        self.k, self.seed = k, seed

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Learn from the top-k ground truth of ``data``."""
        return super().fit(to_topk(data, self.k, seed=self.seed), validation)

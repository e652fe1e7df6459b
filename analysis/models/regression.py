"""Pointwise least squares."""

from typing import Self

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.models.base import LinearRanker


class Regression(LinearRanker):
    r"""Ridge regression of labels on features, with a free intercept that ranking does not need.

    .. math:: \sum_j (y_j - w x_j - b)^2 + l2 |w|^2

    Labels that are all equal give weights 0: nothing separates documents.

    Parameters
    ----------
    l2
        Penalty of the weights.
    """

    name = "regression"

    def __init__(self, *, l2: float = 1.0) -> None:
        self.l2 = l2

    def fit(self, data: RankingData, validation: RankingData | None = None) -> Self:
        """Solve the normal equations."""
        if self.l2 < 0:
            raise BadData(f"a penalty l2 must be at least 0, not {self.l2}")
        features = np.asarray(data.features, dtype=np.float64)
        centred = features - features.mean(axis=0)
        system = np.vstack([centred, np.sqrt(self.l2) * np.eye(data.n_features)])
        target = np.concatenate([data.labels - data.labels.mean(), np.zeros(data.n_features)])
        self.coef_ = np.linalg.lstsq(system, target, rcond=None)[0]
        return self

"""Pointwise least squares."""

from typing import Self

import numpy as np

from topkapi.analysis.data.padding import doubles, row_spans
from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.errors import BadData
from topkapi.analysis.lazy import linalg
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
        """Solve the least squares problem, reduced span by span where there are many rows."""
        if self.l2 < 0:
            raise BadData(f"a penalty l2 must be at least 0, not {self.l2}")
        size, spans = data.n_features, list(row_spans(data.n_rows))
        total = sum((doubles(data.features, rows).sum(axis=0) for rows in spans), np.zeros(size))
        mean = total / max(data.n_rows, 1)
        labels = data.labels - data.labels.mean()
        system = np.column_stack([np.sqrt(self.l2) * np.eye(size), np.zeros(size)])
        for rows in spans:
            some = np.column_stack([doubles(data.features, rows) - mean, labels[rows]])
            system = np.vstack([some, system])
            if len(spans) > 1:
                system = linalg.qr(system, mode="r")[0][: size + 1]
        self.coef_ = np.linalg.lstsq(system[:, :size], system[:, size], rcond=None)[0]
        return self

"""Weak rankers of boosting, one feature against a threshold, and their weighted sum."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.typing import FloatArray, IntArray


class StumpSearch:
    """Search for the best stump [x_f > threshold] under additive rewards per document.

    Columns are sorted once; a search is one running sum over all of them, O(d n).
    """

    def __init__(self, features: FloatArray) -> None:
        columns = np.ascontiguousarray(features.T)
        self.order: IntArray = np.argsort(columns, axis=1, kind="stable").astype(np.int32)
        self.values = np.take_along_axis(columns, self.order, axis=1)
        border = np.zeros(columns.shape, dtype=np.bool_)
        border[:, :-1] = self.values[:, :-1] < self.values[:, 1:]
        self.borders: IntArray = np.flatnonzero(border)

    def below(self, rewards: FloatArray) -> FloatArray:
        """Sum of rewards of the documents below each border between values, (n_borders,).

        ``rewards`` is (n,), or (d, n) in the order of the sorted columns.
        """
        taken = rewards[self.order] if rewards.ndim == 1 else rewards
        return np.cumsum(taken, axis=1).ravel()[self.borders]

    def cut(self, border: int) -> tuple[int, float]:
        """Return feature and threshold of a border: the middle between the values around it."""
        feature, position = divmod(int(self.borders[border]), self.values.shape[1])
        low, high = self.values[feature, position], self.values[feature, position + 1]
        middle = low + (high - low) / 2.0
        return feature, float(middle if middle < high else low)


@dataclass(frozen=True)
class Stump:
    """Weight ``alpha`` for documents whose ``feature`` is above ``threshold``.

    Without a threshold the feature itself is the weak ranker, and ``alpha`` multiplies it.
    """

    feature: int
    threshold: float | None
    alpha: float

    def score(self, features: FloatArray) -> FloatArray:
        """Return the score that the weak ranker adds per document, (n,)."""
        column = features[:, self.feature]
        weak = column if self.threshold is None else column > self.threshold
        scores: FloatArray = self.alpha * weak
        return scores


def sum_of_stumps(
    features: FloatArray, chosen: IntArray, thresholds: FloatArray, alphas: FloatArray
) -> FloatArray:
    """Sum many weighted stumps, (n,).

    Each feature takes one search in its sorted thresholds.
    """
    total = np.zeros(features.shape[0])
    for feature in np.unique(chosen):
        mine = np.flatnonzero(chosen == feature)
        mine = mine[np.argsort(thresholds[mine], kind="stable")]
        steps = np.concatenate([[0.0], np.cumsum(alphas[mine])])
        total += steps[np.searchsorted(thresholds[mine], features[:, feature], side="left")]
    return total

"""Weak rankers of boosting, one feature against a threshold, and their weighted sum."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topkapi.analysis.typing import BoolArray, FloatArray, IntArray


class StumpSearch:
    """Search for the best stump [x_f > threshold] under additive rewards per document.

    Columns are sorted once, which takes 5 bytes per value: its row, and whether a larger value
    follows. A search is one running sum over each of them, O(d n).
    """

    def __init__(self, features: FloatArray) -> None:
        self.features = features
        self.order: IntArray = np.empty(features.shape[::-1], dtype=np.int32)
        self.border: BoolArray = np.zeros(features.shape[::-1], dtype=np.bool_)
        for feature, column in enumerate(features.T):
            values = np.ascontiguousarray(column)
            self.order[feature] = np.argsort(values, kind="stable")
            values = values[self.order[feature]]
            self.border[feature, :-1] = values[:-1] < values[1:]

    @cached_property
    def borders(self) -> IntArray:
        """Positions between different values, over all sorted columns, (n_borders,)."""
        return np.flatnonzero(self.border)

    def best(self, rewards: FloatArray) -> tuple[int, float]:
        """Return the position with the largest sum below it by size, and that sum.

        The sum is 0 if no position separates documents. The first of equally large ones wins.
        """
        best_sum = 0, 0.0
        for feature, order in enumerate(self.order):
            sums = np.cumsum(rewards[order])
            size = np.abs(sums) * self.border[feature]
            position = int(np.argmax(size))
            if size[position] > abs(best_sum[1]):
                best_sum = feature * order.size + position, float(sums[position])
        return best_sum

    def below(self, rewards: FloatArray) -> FloatArray:
        """Sum of rewards of the documents below each border between values, (n_borders,).

        ``rewards`` is (n,), or (d, n) in the order of the sorted columns.
        """
        taken = rewards[self.order] if rewards.ndim == 1 else rewards
        return np.cumsum(taken, axis=1).ravel()[self.borders]

    def cut(self, position: int) -> tuple[int, float]:
        """Return feature and threshold at a position: the middle between the values around it."""
        feature, index = divmod(position, self.order.shape[1])
        low, high = self.features[self.order[feature, index : index + 2], feature]
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
        return self.alpha * weak


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

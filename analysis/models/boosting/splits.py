"""Quality of a two-way split of T: kappa-NDCG with ties in random order."""

import numpy as np

from topkapi.analysis.data.ranking import RankingData
from topkapi.analysis.metrics.dcg import scaled_gains, standard_discounts
from topkapi.analysis.models.boosting.stumps import StumpSearch
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray


class Splits:
    """Expected kappa-NDCG on T of rankings that only separate "above" and "below" a threshold.

    Rows are in true order, so T is the first ``lengths`` (n_queries,) rows of a query. Queries with
    fewer than two documents in T have no order to learn and count for nothing.
    """

    def __init__(self, data: RankingData, labels: FloatArray) -> None:
        lengths = np.add.reduceat((labels > 0).astype(np.int64), data.offsets[:-1])
        self.useful: IntArray = np.flatnonzero(lengths >= 2)
        self.lengths = lengths[self.useful]
        width = int(self.lengths.max(initial=0))
        self.filled: BoolArray = np.arange(width) < self.lengths[:, None]
        self.rows = np.where(
            self.filled, data.offsets[:-1][self.useful][:, None] + np.arange(width), 0
        )
        top = labels[self.rows[:, 0]] if width else np.zeros(0)
        gains = np.where(self.filled, scaled_gains(labels[self.rows], top), 0.0)
        discounts = standard_discounts(width)
        self.reach = np.concatenate([[0.0], np.cumsum(discounts)])
        ideal = gains @ discounts
        self.gains = gains / ideal[:, None]
        self.total = self.gains.sum(axis=1)

    def quality(self, above: BoolArray) -> FloatArray:
        """Compute per-query kappa-NDCG for ``above`` (n_rows,), tied within each side.

        Only useful queries count.
        """
        high = above[self.rows] & self.filled
        return self._value(high.sum(axis=1), (self.gains * high).sum(axis=1))

    def _value(self, count: IntArray, gained: FloatArray) -> FloatArray:
        lengths = self.lengths.reshape(self.lengths.shape + (1,) * (count.ndim - 1))
        total = self.total.reshape(lengths.shape)
        head, rest = np.maximum(count, 1), np.maximum(lengths - count, 1)
        first = gained / head * self.reach[count]
        last = (total - gained) / rest * (self.reach[lengths] - self.reach[count])
        value: FloatArray = first + last
        return value

    def changes(self, features: FloatArray, search: StumpSearch) -> tuple[FloatArray, FloatArray]:
        """Return the change by each row when a threshold rises over it, in both directions.

        Both are (n_features, n_rows) in the order of the sorted columns; rows outside T add 0.
        """
        up = np.zeros(features.shape)
        down = np.zeros(features.shape)
        values = np.where(self.filled[:, :, None], features[self.rows], np.inf)
        order = np.argsort(values, axis=1, kind="stable")
        gains = np.take_along_axis(self.gains[:, :, None], order, axis=1)
        low = np.concatenate([np.zeros_like(gains[:, :1]), np.cumsum(gains, axis=1)], axis=1)
        count = np.minimum(np.arange(low.shape[1])[None, :, None], self.lengths[:, None, None])
        count = np.broadcast_to(count, low.shape)
        high = self._value(self.lengths[:, None, None] - count, self.total[:, None, None] - low)
        reverse = self._value(count, low)
        rows = np.take_along_axis(self.rows[:, :, None], order, axis=1)
        kept = np.broadcast_to(self.filled[:, :, None], rows.shape)
        columns = np.broadcast_to(np.arange(features.shape[1]), rows.shape)
        up[rows[kept], columns[kept]] = np.diff(high, axis=1)[kept]
        down[rows[kept], columns[kept]] = np.diff(reverse, axis=1)[kept]
        return (
            np.take_along_axis(up.T, search.order, axis=1),
            np.take_along_axis(down.T, search.order, axis=1),
        )

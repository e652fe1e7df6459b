"""One block of queries as measures see it: labels in the order that scores induce."""

from functools import cached_property
from typing import Self

import numpy as np

from topkapi.analysis.data.padding import PaddedQueries
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray


def divided(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Divide, with 0 where the divisor is 0."""
    return np.divide(top, bottom, out=np.zeros(bottom.shape), where=bottom > 0)


class QueryBatch:
    """Labels and scores of b queries padded to one width w.

    ``labels``, ``scores``, ``filled`` are (b, w); ``top_grade`` is the highest label of the whole
    data. Scores that tie keep the order of their rows. An empty position has label 0 and score
    -inf. A document with score -inf was not retrieved: it is in the ideal order, not in the
    ranking.
    """

    def __init__(
        self, labels: FloatArray, scores: FloatArray, filled: BoolArray, top_grade: float
    ) -> None:
        self.labels, self.scores, self.filled = labels, scores, filled
        self.top_grade = top_grade
        self._orders: dict[int, IntArray] = {}

    @classmethod
    def of(
        cls, block: PaddedQueries, labels: FloatArray, scores: FloatArray, top_grade: float
    ) -> Self:
        """Cut one block out of flat labels and scores, (n_rows,) each."""
        first, last = int(block.rows[0, 0]), int(block.rows[-1, -1])
        if block.filled.all() and last - first + 1 == block.rows.size:  # nothing to pad or reorder
            shape, span = block.rows.shape, slice(first, last + 1)
            return cls(
                labels[span].reshape(shape), scores[span].reshape(shape), block.filled, top_grade
            )
        return cls(
            np.where(block.filled, labels[block.rows], 0.0),
            np.where(block.filled, scores[block.rows], -np.inf),
            block.filled,
            top_grade,
        )

    @property
    def width(self) -> int:
        """Positions per query."""
        return int(self.labels.shape[1])

    @cached_property
    def sizes(self) -> IntArray:
        """Documents per query, (b,)."""
        sizes: IntArray = self.filled.sum(axis=1)
        return sizes

    @cached_property
    def retrieved(self) -> BoolArray:
        """Which positions hold a document of the ranking, (b, w)."""
        return self.filled & (self.scores > -np.inf)

    def order(self, depth: int) -> IntArray:
        """Return positions of the best ``depth`` documents, best first, (b, depth)."""
        depth = min(depth, self.width)
        if depth not in self._orders:
            self._orders[depth] = self._top(depth) if 4 * depth < self.width else self._all(depth)
        return self._orders[depth]

    def _all(self, depth: int) -> IntArray:
        return np.argsort(-self.scores, axis=1, kind="stable")[:, :depth]

    def _top(self, depth: int) -> IntArray:
        """Return the same by selection.

        Queries whose cut falls into a tie are sorted in full.
        """
        found = np.argpartition(-self.scores, depth - 1, axis=1)[:, :depth]
        found.sort(axis=1)
        values = np.take_along_axis(self.scores, found, axis=1)
        order = np.take_along_axis(found, np.argsort(-values, axis=1, kind="stable"), axis=1)
        torn = (self.scores >= values.min(axis=1)[:, None]).sum(axis=1) > depth
        if torn.any():
            order[torn] = np.argsort(-self.scores[torn], axis=1, kind="stable")[:, :depth]
        return order

    def ranked(self, depth: int) -> FloatArray:
        """Return labels in score order, 0 from the last retrieved document on, (b, depth)."""
        return np.take_along_axis(self._earned, self.order(depth), axis=1)

    @cached_property
    def _earned(self) -> FloatArray:
        if self.scores.min(initial=0.0) > -np.inf:
            return self.labels
        return np.where(self.retrieved, self.labels, 0.0)

    def best(self, depth: int) -> FloatArray:
        """Return the largest labels, best first, (b, depth)."""
        depth = min(depth, self.width)
        if 4 * depth < self.width:
            top = -np.partition(-self.labels, depth - 1, axis=1)[:, :depth]
            return -np.sort(-top, axis=1)
        return -np.sort(-self.labels, axis=1)[:, :depth]

    @cached_property
    def truth(self) -> IntArray:
        """Positions by label, best first, ties by position and empty positions last, (b, w)."""
        return np.argsort(np.where(self.filled, -self.labels, np.inf), axis=1, kind="stable")

    @cached_property
    def tie_groups(self) -> IntArray:
        """A number per group of equal scores, in score order over the full width, (b, w)."""
        scores = np.take_along_axis(self.scores, self.order(self.width), axis=1)
        fresh = np.ones(scores.shape, dtype=np.int64)
        fresh[:, 1:] = scores[:, 1:] != scores[:, :-1]
        return np.cumsum(fresh.ravel()).reshape(scores.shape) - 1

    def tie_means(self, values: FloatArray) -> FloatArray:
        """Replace values in score order (b, w) by the mean over their tie group."""
        groups = self.tie_groups.ravel()
        means = np.bincount(groups, values.ravel()) / np.bincount(groups)
        return means[groups].reshape(values.shape)

"""Raw answers of assessors to pairs of documents."""

from dataclasses import dataclass, fields
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class Judgments:
    """Raw answers, one row each, in the order of the answers of a session.

    Attributes
    ----------
    assessor, query
        Indices (n,).
    left, right
        Document indices (n,) as shown on the screen.
    answer
        1 when the left document is preferred, 0 for a tie, -1 for the right one, (n,).
    position
        Number of the answer in its session, from 0, (n,).
    check
        Whether the pair was repeated on purpose, (n,).
    """

    assessor: IntArray
    query: IntArray
    left: IntArray
    right: IntArray
    answer: IntArray
    position: IntArray
    check: BoolArray

    def __post_init__(self) -> None:
        sizes = {getattr(self, field.name).shape for field in fields(self)}
        if len(sizes) > 1 or any(len(shape) != 1 for shape in sizes):
            raise BadData(f"columns of judgments differ in length: {sorted(sizes)}")
        if (self.left == self.right).any():
            raise BadData("a document was compared with itself")
        if not np.isin(self.answer, (-1, 0, 1)).all():
            raise BadData("an answer is neither 1 (left), 0 (tie) nor -1 (right)")

    @classmethod
    def of(
        cls,
        *,
        assessor: ArrayLike,
        query: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        answer: ArrayLike,
        position: ArrayLike | None = None,
        check: ArrayLike | None = None,
    ) -> Self:
        """Build from anything array-like; positions are the row order within a session."""
        who, what = np.asarray(assessor, np.int64), np.asarray(query, np.int64)
        return cls(
            assessor=who,
            query=what,
            left=np.asarray(left, np.int64),
            right=np.asarray(right, np.int64),
            answer=np.asarray(answer, np.int64),
            position=_places(who, what) if position is None else np.asarray(position, np.int64),
            check=np.zeros(who.shape, bool) if check is None else np.asarray(check, bool),
        )

    def __len__(self) -> int:
        return int(self.assessor.size)

    def take(self, rows: IntArray | BoolArray) -> Self:
        """Return the rows that an index or a mask selects."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))

    def oriented(self) -> Self:
        """Return the same answers with every pair in document order, left < right."""
        turned = self.left > self.right
        left, right = np.minimum(self.left, self.right), np.maximum(self.left, self.right)
        answer = np.where(turned, -self.answer, self.answer)
        return type(self)(self.assessor, self.query, left, right, answer, self.position, self.check)


def _places(assessor: IntArray, query: IntArray) -> IntArray:
    """Place of each row among the rows of its assessor and query."""
    order = np.lexsort((query, assessor))
    new = np.ones(order.size, dtype=bool)
    new[1:] = (np.diff(assessor[order]) != 0) | (np.diff(query[order]) != 0)
    starts = np.flatnonzero(new)
    positions = np.empty(order.size, dtype=np.int64)
    positions[order] = np.arange(order.size) - np.repeat(starts, np.diff([*starts, order.size]))
    return positions

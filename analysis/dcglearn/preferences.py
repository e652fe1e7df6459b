"""Preferences between two rankings whose documents carry grades."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

ANSWERS = {"left_much": 2, "left": 1, "same": 0, "right": -1, "right_much": -2}
"""The five answers about two lists, as numbers: above 0 the left list is better."""

UNGRADED = -1
"""A document without a grade: it counts as the worst grade."""


@dataclass(frozen=True, eq=False)
class ListPreferences:
    """Answers about n pairs of rankings, seen to depth K.

    Attributes
    ----------
    left, right
        Grades (n, K) by position, 0 (worst) .. ``n_grades`` - 1 (best).
    answers
        Answers (n,): 2, 1, 0, -1, -2 from "left much better" to "right much better".
    n_grades
        Number of grades.
    ungraded
        Positions filled with the worst grade because a document had none.
    padded
        Positions filled with the worst grade because a ranking was shorter than K.

    Examples
    --------
    >>> pairs = ListPreferences(np.array([[1, 0]]), np.array([[0, 1]]), np.array([1]), 2)
    >>> pairs.differences
    array([[ 1., -1.]])
    """

    left: IntArray
    right: IntArray
    answers: IntArray
    n_grades: int
    ungraded: int = 0
    padded: int = 0

    def __post_init__(self) -> None:
        """Refuse shapes and grades that mean nothing."""
        if self.n_grades < 2:
            raise BadData(f"at least 2 grades are needed to prefer one list, not {self.n_grades}")
        if self.left.ndim != 2 or self.left.shape != self.right.shape or self.left.shape[1] < 1:
            raise BadData(
                f"left {self.left.shape} and right {self.right.shape} must both be (pairs, K)"
            )
        if self.answers.shape != (self.left.shape[0],):
            raise BadData(f"{self.left.shape[0]} pairs but answers {self.answers.shape}")
        if not np.isin(self.answers, list(ANSWERS.values())).all():
            raise BadData("an answer is not one of 2, 1, 0, -1, -2")
        for side in (self.left, self.right):
            if side.size and not (side.min() >= 0 and side.max() < self.n_grades):
                raise BadData(f"a grade is outside 0 .. {self.n_grades - 1}")

    @classmethod
    def of_lists(
        cls,
        left: Sequence[Sequence[int]],
        right: Sequence[Sequence[int]],
        answers: Sequence[int] | IntArray,
        *,
        n_grades: int,
        k: int,
    ) -> "ListPreferences":
        """Make preferences from lists of grades of any length.

        -1 is a document without a grade.

        >>> pairs = ListPreferences.of_lists([[1, -1, 2]], [[2]], [-1], n_grades=3, k=2)
        >>> pairs.left.tolist(), pairs.right.tolist(), pairs.ungraded, pairs.padded
        ([[1, 0]], [[2, 0]], 1, 1)
        """
        first, second = _filled(left, k), _filled(right, k)
        return cls(
            np.where(first[0] == UNGRADED, 0, first[0]),
            np.where(second[0] == UNGRADED, 0, second[0]),
            np.asarray(answers, dtype=np.int64),
            n_grades,
            ungraded=int((first[0] == UNGRADED).sum() + (second[0] == UNGRADED).sum()),
            padded=first[1] + second[1],
        )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.answers.shape[0])

    @property
    def k(self) -> int:
        """Number of positions that count."""
        return int(self.left.shape[1])

    @property
    def tied(self) -> BoolArray:
        """Which pairs were called the same, (n,)."""
        tied: BoolArray = self.answers == 0
        return tied

    @property
    def strong(self) -> BoolArray:
        """Which pairs have a "much better", (n,)."""
        strong: BoolArray = np.abs(self.answers) == 2
        return strong

    @cached_property
    def differences(self) -> FloatArray:
        """Left minus right in increments, (n, K (L - 1)): see :func:`increments`."""
        return increments(self.left, self.n_grades) - increments(self.right, self.n_grades)

    @property
    def preferred(self) -> FloatArray:
        """Better minus worse in increments for the pairs that are not tied."""
        decided = ~self.tied
        return self.differences[decided] * np.sign(self.answers[decided])[:, None]

    def select(self, chosen: IntArray | BoolArray) -> "ListPreferences":
        """Select pairs."""
        return ListPreferences(
            self.left[chosen], self.right[chosen], self.answers[chosen], self.n_grades
        )


def increments(grades: IntArray, n_grades: int) -> FloatArray:
    """Encode rankings (n, K) as binary (n, K (L - 1)): whether the grade at i is at least m.

    [ZZCX13]_, section 4.2, has a one for the grade itself; counted this way the weights are the
    steps from a grade to the next better one, and by equation (3) no step is negative.

    >>> increments(np.array([[2, 0]]), 3)
    array([[1., 1., 0., 0.]])
    """
    steps = grades[:, :, None] >= np.arange(1, n_grades)
    width = grades.shape[1] * (n_grades - 1)
    return steps.reshape(grades.shape[0], width).astype(np.float64)


def _filled(lists: Sequence[Sequence[int]], k: int) -> tuple[IntArray, int]:
    if k < 1:
        raise BadData(f"K must be at least 1, not {k}")
    table = np.zeros((len(lists), k), dtype=np.int64)
    padded = 0
    for row, grades in enumerate(lists):
        top = list(grades[:k])
        table[row, : len(top)] = top
        padded += k - len(top)
    return table, padded

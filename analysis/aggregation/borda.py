"""Borda's count: the start of the aggregation, and a baseline for it."""

import numpy as np

from analysis.typing import FloatArray, IntArray


def borda_order(votes: FloatArray) -> IntArray:
    """Return the candidates by votes won less lost, best first.

    ``votes`` is (n, n); ties keep index order.

    With full rankings this is the order of Borda's mean rank; it also orders partial ones.

    >>> borda_order(np.array([[0.0, 1, 0], [2, 0, 3], [0, 0, 0]])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-(votes.sum(axis=1) - votes.sum(axis=0)).round(9), kind="stable")

"""Borda's count: the start of the aggregation, and a baseline for it."""

import numpy as np

from topkapi.analysis.typing import FloatArray, IntArray


def borda_order(votes: FloatArray) -> IntArray:
    """Return the candidates by votes won less lost, best first.

    With full rankings this is the order of Borda's mean rank; it also orders partial ones.

    Parameters
    ----------
    votes
        Weighted votes (n, n) of row over column.

    Returns
    -------
    IntArray
        Indices (n,); ties keep index order.

    Examples
    --------
    >>> borda_order(np.array([[0.0, 1, 0], [2, 0, 3], [0, 0, 0]])).tolist()
    [1, 0, 2]
    """
    return np.argsort(-(votes.sum(axis=1) - votes.sum(axis=0)).round(9), kind="stable")

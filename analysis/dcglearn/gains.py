"""The worth of graded rankings, and the gains and discounts nearest to learned weights."""

import numpy as np

from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics.gains import FORMAT, Gains, load_gains, usual_gains
from topkapi.analysis.typing import FloatArray, IntArray

__all__ = ["FORMAT", "Gains", "load_gains", "rank_one", "usual_gains", "utilities"]


def utilities(table: FloatArray, grades: IntArray) -> FloatArray:
    """Compute the worth of rankings (n, K) under weights (K, L): (n,).

    Parameters
    ----------
    table
        Weights (K, L) of grades at positions ([ZZCX13]_, section 4.2).
    grades
        Grades (n, K) of rankings.

    Examples
    --------
    >>> utilities(np.array([[0.0, 2.0], [0.0, 1.0]]), np.array([[1, 0], [1, 1]]))
    array([2., 3.])
    """
    found: FloatArray = table[np.arange(grades.shape[1]), grades].sum(axis=1)
    return found


def rank_one(table: FloatArray) -> tuple[Gains, float]:
    """Return gains and discounts nearest to T(w) (K, L), and the share of its squares they explain.

    The first singular vectors ([ZZCX13]_, section 4.3), scaled so that the discounts sum to 1: the
    first one alone, which the paper scales by, is learned too poorly. T(w) has no negative entry,
    so neither have they, and gains rise with the grade.

    >>> found, share = rank_one(np.array([[0.0, 1.0, 3.0], [0.0, 0.5, 1.5]]))
    >>> found.gains, found.discounts, share
    (array([0. , 1.5, 4.5]), array([0.667, 0.333]), 1.0)
    """
    left, sizes, right = np.linalg.svd(table, full_matrices=False)
    if sizes[0] <= 0:
        raise BadData("every weight is 0: no gains can be computed")
    sign = 1.0 if left[:, 0].sum() > 0 else -1.0
    discounts = np.maximum(sign * left[:, 0], 0.0)
    gains = np.maximum.accumulate(np.maximum(sign * right[0], 0.0))
    unit = discounts.sum()
    share = float(sizes[0] ** 2 / (sizes**2).sum())
    return Gains(gains * sizes[0] * unit, discounts / unit), share

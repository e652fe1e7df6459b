"""Agreement of each assessor with the rest, and estimated error rates."""

import numpy as np
from scipy.sparse import csgraph

from topkapi.analysis.agreement.tables import PairTables
from topkapi.analysis.typing import BoolArray, FloatArray, IntArray

LEAST_SEEN = 0.05  # correlation: below it two assessors share nothing, and logarithms run away
RIDGE = 1e-9  # relative: resamples may drop the pairs that identify two assessors


def rest_counts(tables: PairTables) -> tuple[IntArray, IntArray, IntArray]:
    """Return each row of ``tables`` once per assessor: query, assessor, counts (2r, 9).

    The assessor is always the row of the table, so the second one's tables are transposed.

    Parameters
    ----------
    tables
        Votes of every two assessors.
    """
    query = np.concatenate([tables.query, tables.query])
    assessor = np.concatenate([tables.first, tables.second])
    mirrored = tables.counts.transpose(0, 2, 1)
    return query, assessor, np.concatenate([tables.counts, mirrored]).reshape(-1, 9)


def error_rates(
    first: IntArray, second: IntArray, tau: FloatArray, weights: FloatArray, n_assessors: int
) -> FloatArray:
    r"""Estimate the share of page pairs that each assessor reverses: (..., n_assessors).

    Agreement with the rest depends on who the rest are: under a rotation each assessor shares
    queries with a few others only. The model: every assessor sees the worth of pages with noise. If
    worth and noise are normal, the correlation of what two of them see is
    :math:`\sin(\pi\tau_{ij}/2) = r_i r_j` (Greiner; classical test theory), and an assessor
    reverses a random pair with probability :math:`\arccos(r_i)/\pi`. The logarithms are fitted by
    least squares over pairs.

    Parameters
    ----------
    first, second
        Pairs of assessors (s,), each once.
    tau
        Mean tau-b of each pair, (..., s).
    weights
        Weights (..., s), such as the number of shared queries.
    n_assessors
        Number of assessors.

    Returns
    -------
    FloatArray
        Error rates (..., n_assessors). NaN where the pairs do not identify an assessor: two alone,
        or a group without an odd cycle of pairs.

    Examples
    --------
    >>> r = np.cos(np.pi * np.array([0.02, 0.1, 0.2]))
    >>> first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> tau = 2 / np.pi * np.arcsin(r[first] * r[second])
    >>> error_rates(first, second, tau, np.ones(3), 3).round(6).tolist()
    [0.02, 0.1, 0.2]
    """
    seen = np.clip(np.sin(np.pi / 2 * np.nan_to_num(tau)), LEAST_SEEN, 1.0)
    counted = np.where(np.isnan(tau), 0.0, weights * seen**2)  # the variance of a logarithm
    votes = _symmetric(first, second, counted, n_assessors)
    lost = _symmetric(first, second, -np.log(seen) * counted, n_assessors).sum(axis=-1)
    normal = votes + np.eye(n_assessors) * votes.sum(axis=-1)[..., None]
    rates = np.arccos(np.clip(np.exp(-_solved(normal, lost)), 0.0, 1.0)) / np.pi
    return np.where(identified(first, second, n_assessors), rates, np.nan)


def _solved(normal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (..., n, n) systems, singular ones too: a slight ridge, and its error corrected."""
    scale = np.trace(normal, axis1=-2, axis2=-1)[..., None, None] / max(right.shape[-1], 1)
    steady = normal + np.eye(right.shape[-1]) * np.maximum(RIDGE * scale, RIDGE)
    inverse = np.linalg.inv(steady)
    solution = np.matvec(inverse, right)
    refined: FloatArray = solution + np.matvec(inverse, right - np.matvec(normal, solution))
    return refined


def _symmetric(
    first: IntArray, second: IntArray, values: FloatArray, n_assessors: int
) -> FloatArray:
    """Return (..., n, n) with ``values`` (..., s) on both sides of the diagonal.

    Pairs are unique.
    """
    matrix = np.zeros((*values.shape[:-1], n_assessors, n_assessors))
    matrix[..., first, second] = matrix[..., second, first] = values
    return matrix


def identified(first: IntArray, second: IntArray, n_assessors: int) -> BoolArray:
    """Tell which assessors are identified by sums of two parts (n_assessors,).

    Identified are those in a connected group with an odd cycle.

    The doubled graph, in which every pair crosses sides, stays connected exactly if there is one.
    """
    graph = np.zeros((2 * n_assessors, 2 * n_assessors), dtype=bool)
    graph[first, second + n_assessors] = graph[second, first + n_assessors] = True
    _, group = csgraph.connected_components(graph, directed=False)
    joined: BoolArray = group[:n_assessors] == group[n_assessors:]
    return joined

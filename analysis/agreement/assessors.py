"""Each assessor against the rest, and what of a disagreement is their own."""

import numpy as np
from scipy.sparse import csgraph

from analysis.agreement.tables import PairTables
from analysis.typing import BoolArray, FloatArray, IntArray

RIDGE = 1e-9  # relative: resamples may drop the pairs that tell two assessors apart


def rest_counts(tables: PairTables) -> tuple[IntArray, IntArray, IntArray]:
    """Rows of ``tables`` once for each of their two assessors: query, assessor, counts (2r, 9).

    The assessor is always the row of the table, so the second one's tables are transposed.
    """
    query = np.concatenate([tables.query, tables.query])
    assessor = np.concatenate([tables.first, tables.second])
    turned = tables.counts.transpose(0, 2, 1)
    return query, assessor, np.concatenate([tables.counts, turned]).reshape(-1, 9)


def own_disagreement(
    first: IntArray, second: IntArray, apart: FloatArray, total: FloatArray, n_assessors: int
) -> FloatArray:
    r"""Disagreement that belongs to an assessor whoever they were paired with (..., n_assessors).

    Agreement with the rest depends on who the rest are: under a rotation each assessor shares
    queries with a few others only. Here the disagreement of a pair is the sum of two own parts,
    :math:`d_{ij} = u_i + u_j`, fitted by least squares weighted with the votes of the pair
    (``apart`` of ``total`` votes (..., s) for pairs ``first``, ``second`` (s,)). NaN where the
    pairs do not tell the parts apart: two assessors alone, or a group without an odd ring.

    >>> first, second, apart = np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([10.0, 20, 24])
    >>> own_disagreement(first, second, apart, np.full(3, 100.0), 3).round(3).tolist()
    [0.03, 0.07, 0.17]
    """
    votes = _symmetric(first, second, total, n_assessors)
    differ = _symmetric(first, second, apart, n_assessors).sum(axis=-1)
    normal = votes + np.eye(n_assessors) * votes.sum(axis=-1)[..., None]
    return np.where(told_apart(first, second, n_assessors), _solved(normal, differ), np.nan)


def _solved(normal: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (..., n, n) systems, singular ones too: a slight ridge, and its error taken back."""
    scale = np.trace(normal, axis1=-2, axis2=-1)[..., None, None] / max(right.shape[-1], 1)
    steady = normal + np.eye(right.shape[-1]) * np.maximum(RIDGE * scale, RIDGE)
    inverse = np.linalg.inv(steady)
    solution = np.matvec(inverse, right)
    refined: FloatArray = solution + np.matvec(inverse, right - np.matvec(normal, solution))
    return refined


def _symmetric(
    first: IntArray, second: IntArray, values: FloatArray, n_assessors: int
) -> FloatArray:
    """(..., n, n) with ``values`` (..., s) on both sides of the diagonal; pairs are unique."""
    matrix = np.zeros((*values.shape[:-1], n_assessors, n_assessors))
    matrix[..., first, second] = matrix[..., second, first] = values
    return matrix


def told_apart(first: IntArray, second: IntArray, n_assessors: int) -> BoolArray:
    """Whether pairs identify u_i + u_j (n_assessors,): a connected group with an odd ring.

    The doubled graph, in which every pair crosses sides, stays connected exactly if there is one.
    """
    graph = np.zeros((2 * n_assessors, 2 * n_assessors), dtype=bool)
    graph[first, second + n_assessors] = graph[second, first + n_assessors] = True
    _, group = csgraph.connected_components(graph, directed=False)
    joined: BoolArray = group[:n_assessors] == group[n_assessors:]
    return joined

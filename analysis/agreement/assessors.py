"""Each assessor against the rest, and what of a disagreement is their own."""

import numpy as np
from scipy.sparse import csgraph

from analysis.agreement.tables import PairTables, agreed
from analysis.typing import BoolArray, FloatArray, IntArray


def rest_counts(tables: PairTables) -> tuple[IntArray, IntArray, IntArray]:
    """Rows of ``tables`` once for each of their two assessors: query, assessor, counts (2r, 9).

    The assessor is always the row of the table, so the second one's tables are transposed.
    """
    query = np.concatenate([tables.query, tables.query])
    assessor = np.concatenate([tables.first, tables.second])
    turned = tables.counts.transpose(0, 2, 1)
    return query, assessor, np.concatenate([tables.counts, turned]).reshape(-1, 9)


def own_disagreement(
    first: IntArray, second: IntArray, counts: IntArray | FloatArray, n_assessors: int
) -> FloatArray:
    r"""Disagreement that belongs to an assessor whoever they were paired with (..., n_assessors).

    Agreement with the rest depends on who the rest are: under a rotation each assessor shares
    queries with a few others only. Here the disagreement of a pair is the sum of two own parts,
    :math:`d_{ij} = u_i + u_j`, fitted by least squares weighted with the votes of the pair
    (``counts`` (..., s, 3, 3) for pairs ``first``, ``second`` (s,)). NaN where the pairs do not
    tell the parts apart: two assessors alone, or any group without an odd ring of pairs.

    >>> table = lambda d: np.diag([100 - d, 0, 0]) + np.diag([d, 0], k=1)
    >>> counts = np.stack([table(10), table(20), table(24)])
    >>> own_disagreement(np.array([0, 0, 1]), np.array([1, 2, 2]), counts, 3).round(3).tolist()
    [0.03, 0.07, 0.17]
    """
    same, total = agreed(counts)
    votes = _symmetric(first, second, total, n_assessors)
    apart = _symmetric(first, second, total - same, n_assessors).sum(axis=-1)
    normal = votes + np.eye(n_assessors) * votes.sum(axis=-1)[..., None]
    solution = np.matvec(np.linalg.pinv(normal, rcond=1e-9, hermitian=True), apart)
    return np.where(told_apart(first, second, n_assessors), solution, np.nan)


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

"""Exact Kemeny by integer programming, triangles added as they are violated."""

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, milp

from topkapi.analysis.typing import FloatArray


def exact_cost(votes: FloatArray) -> float:
    """Find the least cost of any order; x_ij = 1 puts i before j, for i < j."""
    n = votes.shape[0]
    first, second = np.triu_indices(n, k=1)
    number = np.zeros((n, n), dtype=int)
    number[first, second] = np.arange(first.size)
    cost = votes[second, first] - votes[first, second]
    rows: list[tuple[int, int, int]] = []
    known: set[tuple[int, int, int]] = set()
    while True:
        chosen = _solve(cost, rows, number, first.size)
        before = np.zeros((n, n))
        before[first, second], before[second, first] = chosen, 1 - chosen
        circles = [t for t in _circles(before) if t not in known]
        if not circles:
            return float((votes * before.T).sum())
        known.update(circles)
        rows.extend(circles)


def _circles(before: FloatArray) -> list[tuple[int, int, int]]:
    """Return triples i < j < l whose order is cyclic."""
    i, j, k = np.nonzero(
        (before[:, :, None] + before[None, :, :] + before.T[:, None, :] > 2.5)
        | (before[:, :, None] + before[None, :, :] + before.T[:, None, :] < 0.5)
    )
    inside = (i < j) & (j < k)
    return list(zip(i[inside].tolist(), j[inside].tolist(), k[inside].tolist(), strict=True))


def _solve(
    cost: FloatArray, rows: list[tuple[int, int, int]], number: FloatArray, size: int
) -> FloatArray:
    """Constrain 0 <= x_ij + x_jk - x_ik <= 1 for the triangles so far."""
    limits = []
    if rows:
        i, j, k = np.array(rows).T
        columns = np.stack([number[i, j], number[j, k], number[i, k]], axis=1).ravel()
        values = np.tile([1.0, 1.0, -1.0], len(rows))
        table = sparse.csr_array(
            (values, (np.repeat(np.arange(len(rows)), 3), columns)), shape=(len(rows), size)
        )
        limits = [LinearConstraint(table, 0, 1)]
    found = milp(
        cost, integrality=np.ones(size, dtype=int), bounds=Bounds(0, 1), constraints=limits
    )
    assert found.success, found.message
    chosen: FloatArray = np.round(found.x)
    return chosen

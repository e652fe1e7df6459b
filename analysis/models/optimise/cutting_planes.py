"""Cutting planes for regularised risks that are maxima of linear functions (1-slack form).

Minimises |w|^2 / 2 + C risk(w) for a convex, non-negative, piecewise linear risk: [JFY09]_. Every
round adds the plane that touches the risk at the present weights and solves the small dual exactly.
"""

from collections.abc import Callable

import numpy as np

from topkapi.analysis.errors import BadData, DidNotConverge
from topkapi.analysis.typing import BoolArray, FloatArray

Oracle = Callable[[FloatArray], tuple[float, FloatArray]]
"""Weights -> risk and one of its subgradients (d,)."""


def cutting_planes(
    oracle: Oracle, n_features: int, c: float, *, epsilon: float = 1e-3, max_rounds: int = 2000
) -> FloatArray:
    """Find weights whose regularised risk is within ``epsilon`` * C of the minimum.

    The best weights so far are kept, and each plane is laid near them (a tenth of the way to the
    dual's weights): [FS09]_, which needs far fewer planes than laying it at the dual's weights.
    """
    if c <= 0 or epsilon <= 0:
        raise BadData(f"C and epsilon must be above 0, not {c} and {epsilon}")
    best: FloatArray = np.zeros(n_features)
    best_value, slope = _primal(oracle, best, c)
    planes: FloatArray = np.stack([np.zeros(n_features), slope])  # plane 0: no risk is below 0
    heights: FloatArray = np.array([0.0, best_value / c])
    shares: FloatArray = np.array([c, 0.0])
    for _ in range(max_rounds):
        shares = simplex_qp(planes @ planes.T, heights, shares)
        weights = -shares @ planes
        bound = float(shares @ heights) - 0.5 * float(weights @ weights)
        if best_value - bound <= epsilon * c:
            return best
        value, slope = _primal(oracle, weights, c)
        planes, heights, shares = _add(planes, heights, shares, weights, value, slope, c)
        if value < best_value:
            best, best_value = weights, value
            continue
        middle = 0.9 * best + 0.1 * weights
        value, slope = _primal(oracle, middle, c)
        planes, heights, shares = _add(planes, heights, shares, middle, value, slope, c)
        if value < best_value:
            best, best_value = middle, value
    raise DidNotConverge(
        f"cutting planes did not converge within {max_rounds} rounds: "
        "lower C, or normalise the features"
    )


def _primal(oracle: Oracle, weights: FloatArray, c: float) -> tuple[float, FloatArray]:
    risk, slope = oracle(weights)
    return 0.5 * float(weights @ weights) + c * risk, slope


def _add(
    planes: FloatArray,
    heights: FloatArray,
    shares: FloatArray,
    weights: FloatArray,
    value: float,
    slope: FloatArray,
    c: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add the plane that touches at ``weights``; drop idle ones when there are many."""
    height = (value - 0.5 * float(weights @ weights)) / c - float(slope @ weights)
    keep: BoolArray = np.ones(shares.size, dtype=np.bool_)
    if shares.size > 300:
        keep = (shares > 0) | (np.arange(shares.size) > shares.size - 150)
        keep[0] = True
    return (
        np.vstack([planes[keep], slope]),
        np.append(heights[keep], height),
        np.append(shares[keep], 0.0),
    )


def simplex_qp(gram: FloatArray, heights: FloatArray, start: FloatArray) -> FloatArray:
    """Minimise a'Ga/2 - h'a over a >= 0 with the sum of ``start``, from the feasible ``start``.

    Primal active set: solve on the free variables, walk towards the solution until a variable
    reaches 0, free the one with the most negative multiplier.

    >>> simplex_qp(np.diag([1.0, 3.0]), np.zeros(2), np.array([1.0, 0.0]))
    array([0.75, 0.25])
    """
    total = float(start.sum())
    shares = start.copy()
    free = shares > 0
    scale = max(1.0, float(np.abs(gram).max()) * total, float(np.abs(heights).max()))
    for _ in range(20 * shares.size + 100):
        solved, multiplier = _equality_solution(gram, heights, free, total)
        if (solved >= -1e-12 * total).all():
            shares[:] = 0.0
            shares[free] = np.maximum(solved, 0.0)
            reduced = gram @ shares - heights + multiplier
            reduced[free] = 0.0
            worst = int(np.argmin(reduced))
            if reduced[worst] >= -1e-10 * scale:
                return shares
            free[worst] = True
        else:
            _walk(shares, free, solved)
    return shares


def _equality_solution(
    gram: FloatArray, heights: FloatArray, free: BoolArray, total: float
) -> tuple[FloatArray, float]:
    size = int(free.sum())
    system = np.ones((size + 1, size + 1))
    system[:size, :size] = gram[np.ix_(free, free)]
    system[range(size), range(size)] += 1e-12 * max(float(np.trace(gram)) / gram.shape[0], 1e-12)
    system[size, size] = 0.0
    target = np.append(heights[free], total)
    try:
        found = np.linalg.solve(system, target)
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(system, target, rcond=None)[0]
    return found[:size], float(found[size])


def _walk(shares: FloatArray, free: BoolArray, solved: FloatArray) -> None:
    """Move the free shares towards ``solved`` and fix the first that reaches 0."""
    present = shares[free]
    falling = solved < present
    lengths = np.where(falling, present / np.where(falling, present - solved, 1.0), np.inf)
    first = int(np.argmin(lengths))
    moved = present + min(float(lengths[first]), 1.0) * (solved - present)
    moved[first] = 0.0
    shares[free] = np.maximum(moved, 0.0)
    free[np.flatnonzero(free)[first]] = False

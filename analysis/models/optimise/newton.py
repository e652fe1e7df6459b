"""Exact Newton steps with a falling line search, for smooth convex losses of a weight vector."""

from collections.abc import Callable

import numpy as np

from topkapi.analysis.errors import BadData, DidNotConverge
from topkapi.analysis.lazy import linalg
from topkapi.analysis.typing import FloatArray

Derivatives = tuple[float, FloatArray, FloatArray]
"""Value, gradient (d,) and Hessian (d, d)."""


def newton(
    loss: Callable[[FloatArray], Derivatives],
    start: FloatArray,
    l2: float,
    *,
    tolerance: float = 1e-10,
    max_steps: int = 100,
) -> FloatArray:
    """Minimise loss(w) + l2/2 |w|^2 until the fall still to expect is ``tolerance`` of its value.

    A step is halved until the value falls by the Armijo rule; a value that is not finite counts as
    no fall. Raises :class:`DidNotConverge` when steps or halvings run out.
    """
    if l2 < 0:
        raise BadData(f"a penalty l2 must be at least 0, not {l2}")
    weights = start
    value, gradient, hessian = _with_penalty(loss, weights, l2)
    for _ in range(max_steps):
        step = _solve(hessian, -gradient)
        fall = -float(gradient @ step)
        if fall <= 2.0 * tolerance * max(1.0, abs(value)):
            return weights
        weights, (value, gradient, hessian) = _descend(loss, weights, step, value, fall, l2)
    raise DidNotConverge(
        f"Newton's method did not converge within {max_steps} steps: "
        "raise l2, or normalise the features"
    )


def _with_penalty(
    loss: Callable[[FloatArray], Derivatives], weights: FloatArray, l2: float
) -> Derivatives:
    value, gradient, hessian = loss(weights)
    penalty = 0.5 * l2 * float(weights @ weights)
    return value + penalty, gradient + l2 * weights, hessian + l2 * np.eye(weights.size)


def _solve(hessian: FloatArray, target: FloatArray) -> FloatArray:
    """Solve by Cholesky; a singular Hessian gets the least ridge that makes it definite."""
    ridge = 0.0
    scale = float(np.trace(hessian)) / hessian.shape[0]
    for _ in range(20):
        try:
            factor = linalg.cho_factor(
                hessian + ridge * np.eye(hessian.shape[0]), check_finite=False
            )
            step: FloatArray = linalg.cho_solve(factor, target, check_finite=False)
        except linalg.LinAlgError:
            step = np.full(target.shape, np.nan)
        if np.isfinite(step).all():
            return step
        ridge = max(10.0 * ridge, 1e-12 * scale, 1e-300)
    raise DidNotConverge("the curvature of the loss is not finite: are the features huge?")


def _descend(
    loss: Callable[[FloatArray], Derivatives],
    weights: FloatArray,
    step: FloatArray,
    value: float,
    fall: float,
    l2: float,
) -> tuple[FloatArray, Derivatives]:
    length = 1.0
    for _ in range(60):
        tried = weights + length * step
        found = _with_penalty(loss, tried, l2)
        enough = found[0] <= value - 1e-4 * length * fall + 1e-13 * max(1.0, abs(value))
        if np.isfinite(found[0]) and enough:
            return tried, found
        length /= 2.0
    raise DidNotConverge("no step along Newton's direction lowers the loss")

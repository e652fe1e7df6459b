"""The convex problem behind learned gains: squared hinges over non-negative steps."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from topkapi.analysis.errors import BadData, DidNotConverge
from topkapi.analysis.lazy import linalg
from topkapi.analysis.typing import FloatArray

Penalty = Literal["steps", "weights"]
"""What is kept small: the steps between grades, or the weights themselves as printed."""


def penalty_matrix(k: int, n_grades: int, penalty: Penalty) -> FloatArray:
    """Return G such that the penalty of steps s (K (L-1),) is s'Gs.

    ``weights`` is the printed w'w. The worst grade's weight at a position moves no comparison, so
    the least w'w centres each position, which leaves a quadratic form of the steps alone.

    >>> penalty_matrix(1, 3, "weights")
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    if penalty == "steps":
        return np.eye(k * (n_grades - 1))
    if penalty != "weights":
        raise BadData(f"the penalty is on 'steps' or on 'weights', not {penalty!r}")
    steps = (np.arange(n_grades)[:, None] >= np.arange(1, n_grades)).astype(np.float64)
    centred = steps - steps.mean(axis=0)
    return np.kron(np.eye(k), centred.T @ centred)


@dataclass(frozen=True)
class GainProblem:
    r"""[ZZCX13]_, equations (1) to (3) and, with ties, (6) to (8).

    .. math:: s'Gs + C \sum_S \max(0, 1 - s'd)^2 + C_t \sum_T \max(0, |s'd| - 1)^2, \quad s \ge 0

    ``preferred`` (n, d) are better minus worse, ``tied`` (t, d) the differences of tied pairs,
    ``gram`` (d, d) is G.
    """

    preferred: FloatArray
    tied: FloatArray
    gram: FloatArray
    c: float
    c_ties: float

    def value(self, steps: FloatArray) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Return the objective, its gradient, and the shortfalls and excesses it comes from."""
        short = np.maximum(1.0 - _times(self.preferred, steps), 0.0)
        margins = _times(self.tied, steps)
        over = np.sign(margins) * np.maximum(np.abs(margins) - 1.0, 0.0)
        pull = self.gram @ steps
        value = steps @ pull + self.c * (short @ short) + self.c_ties * (over @ over)
        gradient = 2.0 * (pull - self.c * _pulled(self.preferred, short))
        if self.c_ties > 0.0:
            gradient += 2.0 * self.c_ties * _pulled(self.tied, over)
        return float(value), gradient, short, over

    def curvature(self, short: FloatArray, over: FloatArray) -> FloatArray:
        """Return the Hessian of the piece on which ``short`` and ``over`` lie, (d, d)."""
        hessian: FloatArray = 2.0 * (self.gram + self.c * _squared(self.preferred[short > 0]))
        if self.c_ties > 0.0:
            hessian += 2.0 * self.c_ties * _squared(self.tied[over != 0])
        return hessian


def solve(
    problem: GainProblem,
    start: FloatArray | None = None,
    *,
    tolerance: float = 1e-10,
    max_steps: int = 2000,
) -> FloatArray:
    """Find the minimum, steps (d,), by Newton on the free variables: [Ber82]_.

    A step at 0 that the gradient holds there is fixed for a round, the others take Newton's
    direction cut off at 0, halved until the value falls. The pieces are quadratic, so the last
    round lands on the optimum; ``tolerance`` bounds the distance left, relative to the steps.
    """
    steps = np.zeros(problem.gram.shape[0]) if start is None else start.copy()
    value, gradient, short, over = problem.value(steps)
    for _ in range(max_steps):
        hessian = problem.curvature(short, over)
        scaled = gradient / np.diag(hessian)
        left = np.abs(steps - np.maximum(steps - scaled, 0.0)).max(initial=0.0)
        if left <= tolerance * (1.0 + steps.max(initial=0.0)):
            return steps
        direction = _direction(steps, gradient, scaled, hessian, min(left, 1e-3))
        found = _descend(problem, steps, value, gradient, direction)
        if found is None:  # rounding: no step lowers the value any more
            return _settled(steps, left)
        steps, (value, gradient, short, over) = found
    raise DidNotConverge(f"the gains did not converge within {max_steps} steps: lower C")


def _direction(
    steps: FloatArray, gradient: FloatArray, scaled: FloatArray, hessian: FloatArray, near: float
) -> FloatArray:
    """Return Newton's direction of the free variables, the gradient of those held at or near 0."""
    free = np.flatnonzero(~((steps <= near) & (gradient > 0)))
    direction = -scaled
    if free.size:
        factor = linalg.cho_factor(hessian[np.ix_(free, free)], check_finite=False)
        direction[free] = -linalg.cho_solve(factor, gradient[free], check_finite=False)
    return direction


def _descend(
    problem: GainProblem,
    steps: FloatArray,
    value: float,
    gradient: FloatArray,
    direction: FloatArray,
) -> tuple[FloatArray, tuple[float, FloatArray, FloatArray, FloatArray]] | None:
    length = 1.0
    for _ in range(50):
        tried = np.maximum(steps + length * direction, 0.0)
        found = problem.value(tried)
        if found[0] < value and found[0] <= value + 1e-4 * float(gradient @ (tried - steps)):
            return tried, found
        length /= 2.0
    return None


def _settled(steps: FloatArray, left: float) -> FloatArray:
    if left > 1e-6 * (1.0 + float(steps.max(initial=0.0))):
        raise DidNotConverge("no step lowers the loss of the gains: lower C")
    return steps


# Products of some hundred rows: BLAS would wake its threads for them, and on a busy machine their
# waiting takes a hundred times as long as the arithmetic.


def _times(rows: FloatArray, vector: FloatArray) -> FloatArray:
    found: FloatArray = np.einsum("ij,j->i", rows, vector)
    return found


def _pulled(rows: FloatArray, weights: FloatArray) -> FloatArray:
    active = weights != 0
    found: FloatArray = np.einsum("i,ij->j", weights[active], rows[active])
    return found


def _squared(rows: FloatArray, at_once: int = 128) -> FloatArray:
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, rows.shape[0], at_once):
        part = rows[start : start + at_once]
        total += part.T @ part
    return total

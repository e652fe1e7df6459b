"""Models of people who differ, fitted to the answers to random pairs.

- `noisy_bradley_terry` (Bugakova et al. 2019): a person answers by the Bradley-Terry model with the
  probability of their skill, and otherwise by a preference for the left or the right side;
- `heterogeneous_thurstone` (Jin et al. 2020): normal errors, of another size for each person.

Both are fitted by maximum likelihood with a normal prior of the scores.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr

FloatArray = NDArray[np.float64]
Told = Sequence[tuple[int, int, bool, int]]  # first, second, whether the first won, who

RIDGE = 0.5  # precision of the scores, and of what is known of people on their scale


def noisy_bradley_terry(n: int, people: int, told: Told) -> FloatArray:
    """Return the scores; the parameters are scores, skills (logit) and sides."""
    first, second, sign, who = _columns(told)

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        scores, skill, side = x[:n], expit(x[n : n + people] + 2.0), x[n + people :]
        by_scores = expit(sign * (scores[first] - scores[second]))
        by_side = expit(sign * side[who])
        chance = np.maximum(skill[who] * by_scores + (1 - skill[who]) * by_side, 1e-12)
        pull = skill[who] * by_scores * (1 - by_scores) * sign / chance
        gradient = np.zeros_like(x)
        np.add.at(gradient, first, -pull)
        np.add.at(gradient, second, pull)
        slope = skill[who] * (1 - skill[who])
        np.add.at(gradient, n + who, -(by_scores - by_side) * slope / chance)
        sides = (1 - skill[who]) * by_side * (1 - by_side) * sign / chance
        np.add.at(gradient, n + people + who, -sides)
        value = -np.log(chance).sum() + 0.5 * RIDGE * (x @ x)
        return float(value), gradient + RIDGE * x

    return _fitted(loss, n + 2 * people)[:n]


def heterogeneous_thurstone(n: int, people: int, told: Told) -> FloatArray:
    """Return the scores; the parameters are scores and the logarithms of people's accuracies."""
    first, second, sign, who = _columns(told)

    def loss(x: FloatArray) -> tuple[float, FloatArray]:
        scores, accuracy = x[:n], np.exp(np.clip(x[n:], -4, 4))
        apart = scores[first] - scores[second]
        at = sign * accuracy[who] * apart
        log_chance = log_ndtr(at)
        ratio = np.exp(-0.5 * at**2 - 0.5 * np.log(2 * np.pi) - log_chance)
        gradient = np.zeros_like(x)
        np.add.at(gradient, first, -ratio * sign * accuracy[who])
        np.add.at(gradient, second, ratio * sign * accuracy[who])
        np.add.at(gradient, n + who, -ratio * at)
        value = -log_chance.sum() + 0.5 * RIDGE * (x @ x)
        return float(value), gradient + RIDGE * x

    return _fitted(loss, n + people)[:n]


def _columns(told: Told) -> tuple[NDArray[np.int64], ...]:
    first, second, won, who = np.array(told, dtype=np.int64).reshape(-1, 4).T
    return first, second, 2 * won - 1, who


def _fitted(loss: Callable[[FloatArray], tuple[float, FloatArray]], size: int) -> FloatArray:
    found = minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    return np.asarray(found.x)

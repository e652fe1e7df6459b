"""Score models of two rivals in `bench.rivals`, with the pair that each of them asks next."""

from math import erf, exp, pi, sqrt

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


class CrowdBT:
    """Scores N(mean, variance) and one annotator who is right with probability Beta(a, b)."""

    def __init__(self, n: int) -> None:
        self.mean, self.variance = np.zeros(n), np.full(n, 1.0 / 9.0)
        self.alpha, self.beta = 10.0, 1.0

    def update(self, winner: int, loser: int) -> None:
        """Match moments after one answer (equations 12 to 18)."""
        means, variances = self.mean[[winner, loser]], self.variance[[winner, loser]]
        change, factor = self._changes(means[:1], means[1:])
        self.mean[winner] += variances[0] * change[0]
        self.mean[loser] -= variances[1] * change[0]
        self.variance[[winner, loser]] *= np.maximum(1.0 + variances * factor[0], 1e-4)
        self._update_annotator(means, variances)

    def _changes(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        one, other = np.exp(first), np.exp(second)
        right, wrong = self.alpha * one, self.beta * other
        change = right / (right + wrong) - one / (one + other)
        factor = right * wrong / (right + wrong) ** 2 - one * other / (one + other) ** 2
        return change, factor

    def _update_annotator(self, means: FloatArray, variances: FloatArray) -> None:
        one, other = np.exp(means)
        slope = one * other * (other - one) / (one + other) ** 3
        yes = float(np.clip(one / (one + other) + 0.5 * variances.sum() * slope, 1e-6, 1 - 1e-6))
        a, b = self.alpha, self.beta
        total = (yes * a + (1 - yes) * b) / (a + b)
        first = (yes * (a + 1) * a + (1 - yes) * a * b) / (total * (a + b + 1) * (a + b))
        second = (yes * (a + 2) * (a + 1) * a + (1 - yes) * (a + 1) * a * b) / (
            total * (a + b + 2) * (a + b + 1) * (a + b)
        )
        spread = max(second - first**2, 1e-9)
        self.alpha = max((first - second) * first / spread, 0.5)
        self.beta = max((first - second) * (1 - first) / spread, 0.05)

    def choose(self, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> int:
        """Return the pair with the largest expected divergence of the scores."""
        gain = np.zeros(upper.size)
        for one, other in ((upper, lower), (lower, upper)):
            first, second = self.mean[one], self.mean[other]
            change, factor = self._changes(first, second)
            share = self.alpha / (self.alpha + self.beta)
            better = 1 / (1 + np.exp(second - first))
            chance = share * better + (1 - share) * (1 - better)
            for index in (one, other):
                old = self.variance[index]
                ratio = np.maximum(1.0 + old * factor, 1e-4)
                gain += chance * 0.5 * (ratio - 1 - np.log(ratio) + old * change**2)
        return int(np.argmax(gain))

    def scores(self) -> FloatArray:
        """Return the posterior means."""
        return self.mean


class Asap:
    """Thurstone scores, N(0, 1/2) a priori, by expectation propagation over all answers."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.told: list[tuple[int, int]] = []
        self._messages: list[tuple[float, float, float, float]] = []
        self.mean, self.variance = np.zeros(n), np.full(n, 0.5)

    def update(self, winner: int, loser: int) -> None:
        """Add an answer and run three passes over all messages."""
        self.told.append((winner, loser))
        self._messages.append((0.0, 0.0, 0.0, 0.0))
        for _ in range(3):
            for index, (one, other) in enumerate(self.told):
                self._pass(index, one, other)

    def _pass(self, index: int, one: int, other: int) -> None:
        """Replace the messages (precision, shift) of one answer to its two scores."""
        message = self._messages[index]
        cavities = []
        for item, (precision, shift) in ((one, message[:2]), (other, message[2:])):
            left = max(1 / self.variance[item] - precision, 1e-6)
            cavities.append((1 / left, (self.mean[item] / self.variance[item] - shift) / left))
        (v1, m1), (v2, m2) = cavities
        scale = sqrt(1.0 + v1 + v2)
        value, slope = _truncated((m1 - m2) / scale)
        found: list[float] = []
        for item, v, m, sign in ((one, v1, m1, 1.0), (other, v2, m2, -1.0)):
            mean, variance = m + sign * v / scale * value, v * (1 - v / scale**2 * slope)
            self.mean[item], self.variance[item] = mean, max(variance, 1e-6)
            found += [1 / self.variance[item] - 1 / v, mean / self.variance[item] - m / v]
        self._messages[index] = (found[0], found[1], found[2], found[3])

    def choose(self, upper: NDArray[np.int64], lower: NDArray[np.int64]) -> int:
        """Return the pair with the largest expected information gain."""
        gain = np.zeros(upper.size)
        for one, other in ((upper, lower), (lower, upper)):
            v1, v2 = self.variance[one], self.variance[other]
            scale = np.sqrt(1.0 + v1 + v2)
            at = (self.mean[one] - self.mean[other]) / scale
            chance = 0.5 * (1 + _erf(at / sqrt(2)))
            value = np.exp(-(at**2) / 2) / sqrt(2 * pi) / np.maximum(chance, 1e-9)
            slope = value * (value + at)
            for v in (v1, v2):
                ratio = np.maximum(1 - v / scale**2 * slope, 1e-6)
                gain += chance * 0.5 * (ratio - 1 - np.log(ratio) + v * (value / scale) ** 2)
        return int(np.argmax(gain))

    def scores(self) -> FloatArray:
        """Return the posterior means."""
        return self.mean


_erf = np.vectorize(erf)


def _truncated(at: float) -> tuple[float, float]:
    """Return the mean shift and the variance factor of a normal truncated at 0."""
    below = max(0.5 * (1 + erf(at / sqrt(2))), 1e-9)
    value = exp(-at * at / 2) / sqrt(2 * pi) / below
    return value, value * (value + at)

"""Score models that choose the pair to ask next: Crowd-BT, ASAP, BayesGURO, AcuRank, plain BT."""

from collections.abc import Sequence
from math import erf, exp, pi, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class ActiveModel(Protocol):
    """Scores of documents, and the pair to ask a person about."""

    def choose(self, upper: IntArray, lower: IntArray, person: int) -> int:
        """Return the index of the pair to ask, of those that may be asked."""
        ...

    def update(self, winner: int, loser: int, person: int) -> None:
        """Take one answer."""
        ...

    def scores(self) -> FloatArray:
        """Return the scores of the documents."""
        ...


class CrowdBT:
    """Scores N(mean, variance) and annotators who are right with probability Beta(a, b)."""

    def __init__(self, n: int, people: int = 1) -> None:
        self.mean, self.variance = np.zeros(n), np.full(n, 1.0 / 9.0)
        self.shapes = np.tile([10.0, 1.0], (people, 1))

    def update(self, winner: int, loser: int, person: int) -> None:
        """Match moments after one answer (equations 12 to 18)."""
        means, variances = self.mean[[winner, loser]], self.variance[[winner, loser]]
        change, factor = self._changes(means[:1], means[1:], person)
        self.mean[winner] += variances[0] * change[0]
        self.mean[loser] -= variances[1] * change[0]
        self.variance[[winner, loser]] *= np.maximum(1.0 + variances * factor[0], 1e-4)
        self._update_annotator(means, variances, person)

    def _changes(
        self, first: FloatArray, second: FloatArray, person: int
    ) -> tuple[FloatArray, FloatArray]:
        one, other = np.exp(first), np.exp(second)
        right, wrong = self.shapes[person, 0] * one, self.shapes[person, 1] * other
        change = right / (right + wrong) - one / (one + other)
        factor = right * wrong / (right + wrong) ** 2 - one * other / (one + other) ** 2
        return change, factor

    def _update_annotator(self, means: FloatArray, variances: FloatArray, person: int) -> None:
        one, other = np.exp(means)
        slope = one * other * (other - one) / (one + other) ** 3
        yes = float(np.clip(one / (one + other) + 0.5 * variances.sum() * slope, 1e-6, 1 - 1e-6))
        a, b = self.shapes[person]
        total = (yes * a + (1 - yes) * b) / (a + b)
        first = (yes * (a + 1) * a + (1 - yes) * a * b) / (total * (a + b + 1) * (a + b))
        second = (yes * (a + 2) * (a + 1) * a + (1 - yes) * (a + 1) * a * b) / (
            total * (a + b + 2) * (a + b + 1) * (a + b)
        )
        spread = max(second - first**2, 1e-9)
        self.shapes[person] = (
            max((first - second) * first / spread, 0.5),
            max((first - second) * (1 - first) / spread, 0.05),
        )

    def choose(self, upper: IntArray, lower: IntArray, person: int) -> int:
        """Return the pair with the largest expected divergence of the scores."""
        gain = np.zeros(upper.size)
        alpha, beta = self.shapes[person]
        for one, other in ((upper, lower), (lower, upper)):
            first, second = self.mean[one], self.mean[other]
            change, factor = self._changes(first, second, person)
            share = alpha / (alpha + beta)
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

    def update(self, winner: int, loser: int, person: int) -> None:  # noqa: ARG002 (one for all)
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
        value, slope = truncated((m1 - m2) / scale)
        found: list[float] = []
        for item, v, m, sign in ((one, v1, m1, 1.0), (other, v2, m2, -1.0)):
            mean, variance = m + sign * v / scale * value, v * (1 - v / scale**2 * slope)
            self.mean[item], self.variance[item] = mean, max(variance, 1e-6)
            found += [1 / self.variance[item] - 1 / v, mean / self.variance[item] - m / v]
        self._messages[index] = (found[0], found[1], found[2], found[3])

    def choose(self, upper: IntArray, lower: IntArray, person: int) -> int:  # noqa: ARG002 (for all)
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


class BayesGuro:
    """Bergström et al. 2024: logistic scores of features and of documents, Laplace posterior.

    The pair asked is the one whose predicted answer varies most over draws from the posterior. The
    only feature is the prior, if there is one; every document has an effect of its own besides, as
    in the paper's hybrid model.
    """

    DRAWS, STEPS, RIDGE = 50, 3, 1.0

    def __init__(self, n: int, prior: Sequence[float] | None, seed: int) -> None:
        features = [] if prior is None else [standardised(prior)]
        self._design = np.column_stack([*features, np.eye(n)])
        self._precision = self.RIDGE * np.eye(self._design.shape[1])
        self._mean = np.zeros(self._design.shape[1])
        if features:
            self._mean[0] = 1e-3  # before any answer, in the order of the prior
        self._hessian = self._precision
        self._rows: list[FloatArray] = []
        self._rng = np.random.default_rng(seed)

    def update(self, winner: int, loser: int, person: int) -> None:  # noqa: ARG002 (one for all)
        """Move the mode by Newton steps, from where it was."""
        self._rows.append(self._design[winner] - self._design[loser])
        rows = np.array(self._rows)
        for _ in range(self.STEPS):
            wrong = 1 / (1 + np.exp(rows @ self._mean))
            self._hessian = (rows * (wrong * (1 - wrong))[:, None]).T @ rows + self._precision
            gradient = rows.T @ wrong - self._precision @ self._mean
            self._mean = self._mean + np.linalg.solve(self._hessian, gradient)

    def choose(self, upper: IntArray, lower: IntArray, person: int) -> int:  # noqa: ARG002 (for all)
        """Return the pair whose predicted answer varies most."""
        spread = np.linalg.inv(np.linalg.cholesky(self._hessian)).T
        drawn = self._mean + self._rng.normal(size=(self.DRAWS, len(self._mean))) @ spread.T
        scores = drawn @ self._design.T
        chances = 1 / (1 + np.exp(scores[:, lower] - scores[:, upper]))
        return int(np.argmax(chances.var(axis=0)))

    def scores(self) -> FloatArray:
        """Return the scores at the mode."""
        return np.asarray(self._design @ self._mean)


class AcuRank:
    """Yoon et al. 2025, adapted from lists of documents to pairs.

    TrueSkill scores start at the prior; documents whose membership in the top k is uncertain are
    compared again, in rounds, each with its neighbour in the order of the scores.
    """

    UNCERTAIN, NOISE = 0.01, 0.5  # the scores start with the variance 1

    def __init__(self, n: int, k: int, prior: Sequence[float] | None) -> None:
        self.k = k
        self.mean = np.zeros(n) if prior is None else 0.5 * standardised(prior)
        self.variance = np.ones(n)
        self._round: list[tuple[int, int]] = []

    def update(self, winner: int, loser: int, person: int) -> None:  # noqa: ARG002 (one for all)
        """Match moments after one answer."""
        v1, v2 = self.variance[winner], self.variance[loser]
        scale = sqrt(2 * self.NOISE**2 + v1 + v2)
        value, slope = truncated((self.mean[winner] - self.mean[loser]) / scale)
        self.mean[winner] += v1 / scale * value
        self.mean[loser] -= v2 / scale * value
        self.variance[winner] *= max(1 - v1 / scale**2 * slope, 1e-3)
        self.variance[loser] *= max(1 - v2 / scale**2 * slope, 1e-3)

    def choose(self, upper: IntArray, lower: IntArray, person: int) -> int:  # noqa: ARG002 (for all)
        """Return the next allowed pair of the round; start another round if there is none."""
        allowed = {
            (first, second): index
            for index, (first, second) in enumerate(
                zip(upper.tolist(), lower.tolist(), strict=True)
            )
        }
        for _ in range(2):
            while self._round:
                pair = self._round.pop()
                if pair in allowed:
                    return allowed[pair]
            self._round = self._neighbours()
        nearest = np.abs(self.mean[upper] - self.mean[lower])
        doubt = self._doubt()
        return int(np.argmax(doubt[upper] + doubt[lower] - 0.1 * nearest))

    def _neighbours(self) -> list[tuple[int, int]]:
        """Return the pairs of a round, most uncertain last."""
        doubt = self._doubt()
        order = [item for item in np.argsort(-self.mean, kind="stable") if doubt[item] > 0]
        pairs = [
            (int(min(one, other)), int(max(one, other)))
            for one, other in zip(order[::2], order[1::2], strict=False)
        ]
        return sorted(pairs, key=lambda pair: doubt[list(pair)].sum())

    def _doubt(self) -> FloatArray:
        """Return how uncertain each document's membership is; 0 below the limit."""
        sd = np.sqrt(self.variance)
        low, high = float((self.mean - 4 * sd).min()), float((self.mean + 4 * sd).max())
        for _ in range(30):
            middle = (low + high) / 2
            inside = 0.5 * (1 + _erf((self.mean - middle) / sd / sqrt(2)))
            low, high = (middle, high) if inside.sum() > self.k else (low, middle)
        doubt = np.minimum(inside, 1 - inside)
        return np.where(doubt > self.UNCERTAIN, doubt, 0.0)

    def scores(self) -> FloatArray:
        """Return the means of the scores."""
        return self.mean


_erf = np.vectorize(erf, otypes=[float])


class PlainBT:
    """Bradley-Terry scores with a ridge, by Laplace's approximation.

    The pair is the one whose answer lowers the variances of the worths of the best ranks most, as
    `robust` chooses, or one of pages that were asked about least, which are close.
    """

    def __init__(self, n: int, k: int, seed: int, *, balanced: bool = False, sd: float = 1.5):
        self._ranks, self._balanced = max(k, 10), balanced
        self._rng = np.random.default_rng(seed)
        self._rows: list[FloatArray] = []
        self._mean, self._times = np.zeros(n), np.zeros(n)
        self._prior = self._precision = np.eye(n) / sd**2

    def update(self, winner: int, loser: int, person: int) -> None:  # noqa: ARG002 (all alike)
        """Fit the scores again."""
        row = np.zeros(self._mean.size)
        row[[winner, loser]] = 1.0, -1.0
        self._rows.append(row)
        self._times[[winner, loser]] += 1
        told = np.array(self._rows)
        for _ in range(3):
            lost = 1.0 / (1.0 + np.exp(told @ self._mean))
            self._precision = (told * (lost * (1.0 - lost))[:, None]).T @ told + self._prior
            slope = told.T @ lost - self._prior @ self._mean
            self._mean = self._mean + np.linalg.solve(self._precision, slope)

    def choose(self, first: IntArray, second: IntArray, person: int) -> int:  # noqa: ARG002 (all alike)
        """Return the number of the best pair."""
        if self._balanced:
            times = self._times[first] + self._times[second]
            apart = np.abs(self._mean[first] - self._mean[second])
            return int(np.argmin(10 * times + apart + 1e-6 * self._rng.random(first.size)))
        root = np.linalg.inv(np.linalg.cholesky(self._precision)).T
        scores = self._mean[:, None] + root @ self._rng.standard_normal((self._mean.size, 256))
        ranks = np.argsort(np.argsort(-scores, axis=0), axis=0)
        fade = 0.85 - 0.12 * min(1.0, len(self._rows) / 143)
        worth = np.where(ranks < self._ranks, fade**ranks, 0.0)
        worth -= worth.mean(axis=1, keepdims=True)
        chance = 1.0 / (1.0 + np.exp(scores[second] - scores[first]))
        mean = chance.mean(axis=1)
        told = ((chance - mean[:, None]) @ worth.T / 256) ** 2
        return int(np.argmax(told.sum(axis=1) / (mean * (1.0 - mean))))

    def scores(self) -> FloatArray:
        """Return the scores."""
        return self._mean


def standardised(values: Sequence[float]) -> FloatArray:
    """Return the values with mean 0 and variance 1."""
    found = np.asarray(values, dtype=float)
    return np.asarray((found - found.mean()) / max(float(found.std()), 1e-9))


def truncated(at: float) -> tuple[float, float]:
    """Return the mean shift and the variance factor of a normal truncated at 0."""
    below = max(0.5 * (1 + erf(at / sqrt(2))), 1e-9)
    value = exp(-at * at / 2) / sqrt(2 * pi) / below
    return value, value * (value + at)

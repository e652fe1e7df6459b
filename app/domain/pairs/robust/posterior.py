"""The posterior of the order: many chains, each an order and an error rate.

A priori every order is equally likely: in each chain the scores of the documents are independent
and uniform on (0, 1). An answer "a is better than b" is correct with probability 1 - e, so a chain
has the weight (1 - e)^right e^wrong. A tie multiplies the weight of the chains in which the two
scores differ by more than `TIE_WIDTH` by the square root of e / (1 - e). The error rate is sampled
as well, from the answers that contradict a chain, under a Beta(2, 18) prior. Chains move by exact
draws of one score given all others; see `topkapi.app.domain.pairs.robust.gibbs`.
"""

from collections.abc import Iterable
from copy import copy

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.gibbs import Opponents, draw_scores

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.intp]

CHAINS = 200
ERROR_PRIOR = (2.0, 18.0)  # as if two wrong answers in twenty had been seen
ERROR_RANGE = (0.005, 0.45)


class Posterior:
    """The chains, the answers that they are based on, and the remaining documents."""

    def __init__(self, n: int, rng: np.random.Generator, *, chains: int = CHAINS) -> None:
        self.n = n
        self.chains = chains
        self.scores: FloatArray = rng.random((n, chains), dtype=np.float32)
        self.errors: FloatArray = np.full(
            chains, ERROR_PRIOR[0] / sum(ERROR_PRIOR), dtype=np.float32
        )
        self.alive = np.ones(n, dtype=bool)
        self.asked = np.zeros((n, n), dtype=np.int16)
        self._opponents = [Opponents() for _ in range(n)]
        self._winners: list[int] = []
        self._losers: list[int] = []

    @property
    def living(self) -> IntArray:
        """Indices of the documents that are not removed."""
        return np.flatnonzero(self.alive)

    @property
    def error_rate(self) -> float:
        """The mean error rate of the chains."""
        return float(self.errors.mean())

    def fork(self) -> "Posterior":
        """Return an independent copy."""
        twin = copy(self)
        twin.scores, twin.alive, twin.asked = (
            self.scores.copy(),
            self.alive.copy(),
            self.asked.copy(),
        )
        twin._opponents = [each.fork() for each in self._opponents]
        twin._winners, twin._losers = list(self._winners), list(self._losers)
        return twin

    def record(self, pair: Pair, preference: Preference) -> None:
        """Record an answer; the chains follow when they are next moved."""
        first, second = pair if preference is not Preference.SECOND else (pair[1], pair[0])
        self.asked[first, second] += 1
        self.asked[second, first] += 1
        if preference is Preference.TIE:
            self._opponents[first].tied(second)
            self._opponents[second].tied(first)
            return
        self._opponents[first].beaten(second)
        self._opponents[second].lost_to(first)
        self._winners.append(first)
        self._losers.append(second)

    def remove(self, index: int) -> None:
        """Remove a document and every answer about it."""
        self.alive[index] = False
        for opponent in self._opponents[index].indices:
            self._opponents[opponent].forget(index)
        self._opponents[index] = Opponents()
        kept = [
            (winner, loser)
            for winner, loser in zip(self._winners, self._losers, strict=True)
            if index not in (winner, loser)
        ]
        self._winners = [winner for winner, _ in kept]
        self._losers = [loser for _, loser in kept]
        self.scores[index] = -1.0

    def move(self, indices: Iterable[int], rng: np.random.Generator) -> None:
        """Redraw the scores of the documents ``indices``, one after the other, in every chain."""
        log_odds = np.log((1.0 - self.errors) / self.errors)
        for index in indices:
            draw_scores(self.scores, index, self._opponents[index], log_odds, rng)

    def draw_errors(self, rng: np.random.Generator) -> None:
        """Draw every chain's error rate given the answers that contradict its order."""
        wrong = (self.scores[self._winners] < self.scores[self._losers]).sum(axis=0)
        right = len(self._winners) - wrong
        err = rng.standard_gamma(ERROR_PRIOR[0] + wrong)
        hit = rng.standard_gamma(ERROR_PRIOR[1] + right)
        self.errors = np.clip(err / (err + hit), *ERROR_RANGE).astype(np.float32)

    def best(self, count: int) -> IntArray:
        """Return the indices of the ``count`` best documents per chain: (chains, count)."""
        order = (-self.scores.T).argsort(axis=1)
        return order[:, : min(count, int(self.alive.sum()))]

"""The posterior of the order and of the assessor's errors: many chains, each one sample of both.

The model is in `topkapi.app.domain.pairs.robust.moves`. Scores are standard normal a priori, so
every order is equally likely. The error model is learned from the answers, and starts from a prior
that earlier queries of the same assessor may have informed.
"""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior, error_rates
from topkapi.app.domain.pairs.robust.model_moves import best_items, move_models
from topkapi.app.domain.pairs.robust.moves import move_scores, pair_probabilities, space
from topkapi.app.domain.pairs.robust.special import quantiles

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int64]

Chains = tuple[SingleArray, SingleArray, FloatArray]  # quantiles, scores, error models

CHAINS = 200
MODEL_ROUNDS = 2  # moves of every chain's error model per answer
_ERROR_RANGE = (0.02, 0.45)  # of the staircase proposals
_OUTCOMES = {Preference.FIRST: 1, Preference.SECOND: -1, Preference.TIE: 0}


class Posterior:
    """The chains, the answers that they are based on, and the remaining documents."""

    def __init__(
        self,
        n: int,
        rng: np.random.Generator,
        *,
        prior: ErrorPrior | None = None,
        chains: int = CHAINS,
    ) -> None:
        self.n, self.chains = n, chains
        prior = prior or ErrorPrior()
        self._prior = prior.table()
        self.models = prior.draw(chains, rng)
        self.u = np.clip(rng.random((chains, n), dtype=np.float32), 1e-6, 1 - 1e-6)
        self.z = quantiles(self.u)
        self.v = space(self.z, self.u, self.models)
        self.alive = np.ones(n, dtype=bool)
        self.asked = np.zeros((n, n), dtype=np.int16)
        self._answers: list[tuple[int, int, int]] = []
        self._best: tuple[int, IntArray] | None = None
        self._index_answers()

    @property
    def living(self) -> IntArray:
        """Indices of the documents that are not removed."""
        return np.flatnonzero(self.alive)

    @property
    def error_rate(self) -> float:
        """The mean error over random pairs, averaged over the chains."""
        return float(error_rates(self.models).mean())

    @property
    def tied(self) -> float:
        """The share of ties among the answers, which lapses are taken to have as well."""
        ties = sum(outcome == 0 for _, _, outcome in self._answers)
        return ties / (len(self._answers) + 1)

    def fork(self) -> "Posterior":
        """Return an independent copy."""
        twin = copy(self)
        for name in ("models", "u", "z", "v", "alive", "asked", "_opponents", "_outcomes"):
            setattr(twin, name, getattr(self, name).copy())
        twin._counts, twin._answers = self._counts.copy(), list(self._answers)
        return twin

    def saved(self) -> Chains:
        """Return a copy of the chains that `restore` accepts."""
        return self.u.copy(), self.z.copy(), self.models.copy()

    def restore(self, chains: Chains) -> None:
        """Set the chains to saved ones."""
        self.u, self.z, self.models = chains[0].copy(), chains[1].copy(), chains[2].copy()
        self.v, self._best = space(self.z, self.u, self.models), None

    @property
    def nbytes(self) -> int:
        """Bytes of the chains and of the answers."""
        arrays = (self.u, self.z, self.v, self.models, self.asked, self._opponents, self._outcomes)
        return sum(each.nbytes for each in arrays)

    def resample(self, pair: Pair, preference: Preference, draw: float) -> None:
        """Copy chains in proportion to how probable they made the answer about to be recorded.

        With the moves that follow this is a resample-move step of sequential Monte Carlo: kinds of
        error models get their posterior weight even if single chains cannot move between them.
        ``draw`` in [0, 1) determines the systematic resampling.
        """
        first, second = np.array([pair[0]]), np.array([pair[1]])
        chances = pair_probabilities(self.v, first, second, self.models, self.tied)[:, 0]
        if _OUTCOMES[preference] == 0 and len(chances) == 2:
            return  # the first tie: until now the chains knew of none
        answer = {1: 0, -1: 1, 0: 2}[_OUTCOMES[preference]]
        reached = np.cumsum(chances[answer], dtype=float)
        points = (np.arange(self.chains) + draw) * (reached[-1] / self.chains)
        chosen = np.minimum(np.searchsorted(reached, points, side="right"), self.chains - 1)
        self.restore((self.u[chosen], self.z[chosen], self.models[chosen]))

    def record(self, pair: Pair, preference: Preference) -> None:
        """Record an answer; the chains follow when they are next moved."""
        first, second = pair
        self.asked[first, second] += 1
        self.asked[second, first] += 1
        self._answers.append((first, second, _OUTCOMES[preference]))
        self._index(first, second, _OUTCOMES[preference])

    def remove(self, index: int) -> None:
        """Remove a document and every answer about it."""
        self.alive[index], self._best = False, None
        self._answers = [each for each in self._answers if index not in each[:2]]
        self._index_answers()

    def move(self, indices: Sequence[int] | IntArray, states: NDArray[np.uint64]) -> None:
        """Move the scores of the documents ``indices``, one after the other, in every chain."""
        self._best = None
        rates = np.clip(error_rates(self.models), *_ERROR_RANGE)
        move_scores(
            np.asarray(indices, dtype=np.int64),
            self.z,
            self.u,
            self.v,
            self.models,
            np.log((1.0 - rates) / rates),
            self._opponents,
            self._outcomes,
            self._counts,
            self.tied,
            states,
        )

    def move_models(self, states: NDArray[np.uint64], rounds: int = MODEL_ROUNDS) -> None:
        """Move every chain's error model given all answers."""
        table = np.array(self._answers, dtype=np.int64).reshape(-1, 3)
        firsts, seconds, answers = np.ascontiguousarray(table.T)
        move_models(
            self.z,
            self.u,
            self.v,
            self.models,
            self._prior,
            firsts,
            seconds,
            answers.astype(float),
            self.tied,
            rounds,
            states,
        )

    def best(self, count: int) -> IntArray:
        """Return the indices of the ``count`` best documents per chain: (chains, count)."""
        if self._best is None or self._best[0] != count:
            living = self.living
            if count >= living.size:
                found = np.asarray(living[np.argsort(-self.u[:, living], axis=1)])
            else:
                found = best_items(self.u, living, count)
            self._best = count, found
        return self._best[1]

    def _index_answers(self) -> None:
        self._opponents = np.zeros((self.n, 8), dtype=np.int64)
        self._outcomes = np.zeros((self.n, 8), dtype=np.int64)
        self._counts = np.zeros(self.n, dtype=np.int64)
        for first, second, outcome in self._answers:
            self._index(first, second, outcome)

    def _index(self, first: int, second: int, outcome: int) -> None:
        for item, other, mine in ((first, second, outcome), (second, first, -outcome)):
            count = self._counts[item]
            if count == self._opponents.shape[1]:
                self._opponents = np.pad(self._opponents, ((0, 0), (0, count)))
                self._outcomes = np.pad(self._outcomes, ((0, 0), (0, count)))
            self._opponents[item, count], self._outcomes[item, count] = other, mine
            self._counts[item] += 1

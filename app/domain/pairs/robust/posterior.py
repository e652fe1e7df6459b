"""The posterior of the order and of people's errors: many chains, each one sample of both.

The model is in `topkapi.app.domain.pairs.robust.moves`. Scores are standard normal a priori, so
every order is equally likely unless a ranker guides them. Each person has an error model, which is
learned from their answers, and starts from a prior that earlier queries may have informed.
"""

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior, error_rates
from topkapi.app.domain.pairs.robust.model_moves import (
    MOST_RHO,
    best_items,
    move_models,
    move_worths_of_ranker,
)
from topkapi.app.domain.pairs.robust.moves import (
    EVENNESS,
    WIDTH,
    move_scores,
    pair_probabilities,
    space,
)
from topkapi.app.domain.pairs.robust.special import quantiles, shares

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int64]

# quantiles, scores, error models, and how far scores follow a ranker
Chains = tuple[SingleArray, SingleArray, FloatArray, FloatArray]

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
        priors: Sequence[ErrorPrior] = (ErrorPrior(),),
        guide: Sequence[float] | None = None,
        chains: int = CHAINS,
    ) -> None:
        """Draw the chains from ``priors``, one per person, and the scores of a ranker, if any."""
        self.n, self.chains, self.people = n, chains, len(priors)
        self._priors = np.array([prior.table() for prior in priors])
        self._priors[1:, EVENNESS, 3] = 0.0  # the spacing is the query's: its prior counts once
        self._priors[:, WIDTH, 4] = self._priors[:, WIDTH, 4].min()  # alike are all or nobody
        self._priors[1:, WIDTH, 3] *= self._priors[1:, WIDTH, 4] == 0.0  # so does that of a team
        drawn = [priors[0].draw(chains, rng)]
        self.u = np.clip(rng.random((chains, n), dtype=np.float32), 1e-6, 1 - 1e-6)
        self.z = quantiles(self.u)
        drawn += [prior.draw(chains, rng) for prior in priors[1:]]
        self.errors = np.stack(drawn, axis=1)  # (chains, people, parameters)
        self.errors[:, 1:, EVENNESS] = self.errors[:, :1, EVENNESS]
        self._draw_alike(rng)
        self.guide = standardized(guide)
        self.rhos = np.empty(0)
        if self.guided:
            self.rhos = rng.uniform(-MOST_RHO, MOST_RHO, chains)
            spreads = np.sqrt(1.0 - self.rhos**2)[:, None]
            self.z = (self.rhos[:, None] * self.guide + spreads * self.z).astype(np.float32)
            self.u = shares(self.z)
        self.v = space(self.z, self.u, self.errors)
        self.alive = np.ones(n, dtype=bool)
        self.asked = np.zeros((n, n), dtype=np.int16)
        self._answers: list[tuple[int, int, int, int]] = []
        self._best: tuple[int, IntArray] | None = None
        self._index_answers()

    def _draw_alike(self, rng: np.random.Generator) -> None:
        """Draw widths of people who are alike around that of the first."""
        alike = self._priors[0, WIDTH, 4]
        if self.people > 1 and alike > 0.0:
            noise = rng.standard_normal((self.chains, self.people)) / np.sqrt(alike)
            drawn = self.errors[:, :1, WIDTH] * np.exp(noise - noise[:, :1])
            self.errors[:, :, WIDTH] = np.clip(drawn, *self._priors[0, WIDTH, :2])

    def prior_of(self, person: int) -> FloatArray:
        """Return the prior of a person's error model, as `ErrorPrior.table` has it."""
        return np.asarray(self._priors[person])

    @property
    def guided(self) -> bool:
        """Whether a ranker that tells documents apart is part of the model."""
        return self.guide.size > 0

    @property
    def models(self) -> FloatArray:
        """The error models of the first person: (chains, parameters)."""
        return self.errors_of(0)

    def errors_of(self, person: int) -> FloatArray:
        """Return the error models of a person: (chains, parameters)."""
        return np.ascontiguousarray(self.errors[:, person])

    @property
    def living(self) -> IntArray:
        """Indices of the documents that are not removed."""
        return np.flatnonzero(self.alive)

    @property
    def error_rate(self) -> float:
        """The mean error over random pairs, averaged over people's answers and the chains."""
        people = [self.error_rate_of(person) for person in range(self.people)]
        return float(np.array(people) @ self.shares_of_answers)

    def error_rate_of(self, person: int) -> float:
        """Return a person's mean error over random pairs, averaged over the chains."""
        return float(error_rates(self.errors_of(person)).mean())

    def answers_of(self, person: int) -> int:
        """Return the number of answers of a person."""
        return int(self._given[person, 0])

    @property
    def shares_of_answers(self) -> FloatArray:
        """The share of answers of each person; equal before the first one."""
        if not self._answers:
            return np.full(self.people, 1.0 / self.people)
        return np.asarray(self._given[:, 0] / self._given[:, 0].sum())

    @property
    def tied(self) -> float:
        """The share of ties among the first person's answers."""
        return float(self.ties[0])

    @property
    def ties(self) -> FloatArray:
        """The share of ties among each person's answers, which lapses are taken to have as well."""
        return np.asarray(self._given[:, 1] / (self._given[:, 0] + 1.0))

    def fork(self) -> "Posterior":
        """Return an independent copy."""
        twin = copy(self)
        for name in ("errors", "rhos", "u", "z", "v", "alive", "asked", "_counts"):
            setattr(twin, name, getattr(self, name).copy())
        for name in ("_opponents", "_outcomes", "_sources", "_given"):
            setattr(twin, name, getattr(self, name).copy())
        twin._answers = list(self._answers)
        return twin

    def saved(self) -> Chains:
        """Return a copy of the chains that `restore` accepts."""
        return self.u.copy(), self.z.copy(), self.errors.copy(), self.rhos.copy()

    def restore(self, chains: Chains) -> None:
        """Set the chains to saved ones."""
        self.u, self.z = chains[0].copy(), chains[1].copy()
        self.errors, self.rhos = chains[2].copy(), chains[3].copy()
        self.v, self._best = space(self.z, self.u, self.errors), None

    @property
    def nbytes(self) -> int:
        """Bytes of the chains and of the answers."""
        arrays = (self.u, self.z, self.v, self.errors, self.rhos, self.asked)
        answers = (self._opponents, self._outcomes, self._sources)
        return sum(each.nbytes for each in (*arrays, *answers))

    def resample(self, pair: Pair, preference: Preference, draw: float, person: int = 0) -> None:
        """Copy chains in proportion to how probable they made the answer about to be recorded.

        With the moves that follow this is a resample-move step of sequential Monte Carlo: kinds of
        error models get their posterior weight even if single chains cannot move between them.
        ``draw`` in [0, 1) determines the systematic resampling.
        """
        first, second = np.array([pair[0]]), np.array([pair[1]])
        tied, models = float(self.ties[person]), self.errors_of(person)
        chances = pair_probabilities(self.v, first, second, models, tied)[:, 0]
        if _OUTCOMES[preference] == 0 and len(chances) == 2:
            return  # the first tie: until now the chains knew of none
        answer = {1: 0, -1: 1, 0: 2}[_OUTCOMES[preference]]
        reached = np.cumsum(chances[answer], dtype=float)
        points = (np.arange(self.chains) + draw) * (reached[-1] / self.chains)
        chosen = np.minimum(np.searchsorted(reached, points, side="right"), self.chains - 1)
        rhos = self.rhos[chosen] if self.guided else self.rhos
        self.restore((self.u[chosen], self.z[chosen], self.errors[chosen], rhos))

    def record(self, pair: Pair, preference: Preference, person: int = 0) -> None:
        """Record an answer of a person; the chains follow when they are next moved."""
        first, second = pair
        self.asked[first, second] += 1
        self.asked[second, first] += 1
        self._answers.append((first, second, _OUTCOMES[preference], person))
        self._index(*self._answers[-1])

    def remove(self, index: int) -> None:
        """Remove a document and every answer about it."""
        self.alive[index], self._best = False, None
        self._answers = [each for each in self._answers if index not in each[:2]]
        self._index_answers()

    def move(self, indices: Sequence[int] | IntArray, states: NDArray[np.uint64]) -> None:
        """Move the scores of the documents ``indices``, one after the other, in every chain."""
        self._best = None
        rates = np.clip(error_rates(self.errors), *_ERROR_RANGE)
        move_scores(
            np.asarray(indices, dtype=np.int64),
            self.z,
            self.u,
            self.v,
            self.errors,
            np.log((1.0 - rates) / rates),
            self._opponents,
            self._outcomes,
            self._sources,
            self._counts,
            self.ties,
            self.guide,
            self.rhos,
            states,
        )

    def move_models(self, states: NDArray[np.uint64], rounds: int = MODEL_ROUNDS) -> None:
        """Move every chain's error models, and how far it follows the ranker, given all answers."""
        firsts, seconds, answers, starts = self.by_person()
        move_models(
            self.z,
            self.u,
            self.v,
            self.errors,
            self._priors,
            firsts,
            seconds,
            answers,
            starts,
            self.ties,
            rounds,
            states,
        )
        if self.guided:
            self._best = None
            move_worths_of_ranker(
                self.z,
                self.u,
                self.v,
                self.errors,
                self._counts,
                self.guide,
                self.rhos,
                rounds,
                states,
            )

    def by_person(self) -> tuple[IntArray, IntArray, FloatArray, NDArray[np.uint64]]:
        """Return the answers sorted by person: first, second, outcome, and where people start."""
        table = np.array(self._answers, dtype=np.int64).reshape(-1, 4)
        if self.people > 1:
            table = table[np.argsort(table[:, 3], kind="stable")]
        firsts, seconds, answers, people = np.ascontiguousarray(table.T)
        starts = np.searchsorted(people, np.arange(self.people + 1))
        return firsts, seconds, answers.astype(float), starts.astype(np.uint64)

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
        self._sources = np.zeros((self.n, 8), dtype=np.int64)  # as `move_scores` reads them
        self._counts = np.zeros(self.n, dtype=np.int64)
        self._given = np.zeros((self.people, 2))  # answers of each person, ties among them
        for answer in self._answers:
            self._index(*answer)

    def _index(self, first: int, second: int, outcome: int, person: int) -> None:
        self._given[person] += 1.0, float(outcome == 0)
        source = 3 * person + outcome % 3
        for item, other, mine in ((first, second, outcome), (second, first, -outcome)):
            count = self._counts[item]
            if count == self._opponents.shape[1]:
                more = ((0, 0), (0, count))
                self._opponents = np.pad(self._opponents, more)
                self._outcomes = np.pad(self._outcomes, more)
                self._sources = np.pad(self._sources, more)
            self._opponents[item, count], self._outcomes[item, count] = other, mine
            self._sources[item, count] = source
            self._counts[item] += 1


def standardized(guide: Sequence[float] | None) -> FloatArray:
    """Return scores with mean 0 and variance 1; none if they do not tell documents apart."""
    found = np.array([] if guide is None else guide, dtype=float)
    if found.size < 2 or found.std() < 1e-12:
        return np.empty(0)
    return np.asarray((found - found.mean()) / found.std())

"""The robust sorter as one object: tell it answers, take them back, ask what it asks, conclude.

Its state is a function of the seed and of what it was told, in order: every step draws from a
generator of its own, keyed by the seed and the step's number. Told the same, it is the same.
"""

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, conclude, quality_now
from topkapi.app.domain.pairs.robust.posterior import CHAINS, Posterior
from topkapi.app.domain.pairs.robust.question import best_question, fade_at, worths

REFRESHED = 7  # promising documents, and as many others, whose scores are drawn anew at every step
KEPT_BYTES = 160_000  # for the states before the last steps, so that undo need not begin again
MOST_KEPT = 4
_BYTES_PER_PLACE = 1200  # the opponents of a place, about
_START, _STEP, _END = 0, 1, 2  # what a generator is for


@dataclass(frozen=True, slots=True)
class Told:
    """One answer that compares two places."""

    pair: Pair
    preference: Preference


@dataclass(frozen=True, slots=True)
class Removed:
    """One place taken out of the contest."""

    place: int


Event = Told | Removed


@dataclass(frozen=True, slots=True)
class _Kept:
    """Where the chains stood after ``steps`` steps."""

    steps: int
    scores: NDArray[np.float32]
    errors: NDArray[np.float32]


class RobustSorter:
    """A posterior over the orders of ``n`` places, of which the best ``k`` are wanted.

    No pair is asked more than ``limit`` times. Over about ``span`` answers interest narrows from
    the whole list to its head.
    """

    def __init__(
        self, n: int, k: int, *, seed: int, span: int, limit: int = 1, chains: int = CHAINS
    ) -> None:
        self.n, self.k, self.span, self.limit = n, k, span, limit
        self._seed, self._chains = seed, chains
        self._begin()

    def _begin(self) -> None:
        self.steps: list[Event] = []
        self._kept: list[_Kept] = []
        self._beliefs = Posterior(self.n, self._rng(_START), chains=self._chains)

    def take(self, step: Event) -> None:
        """Take in an answer, or a removal with which all answers about the place go."""
        self._keep()
        self.steps.append(step)
        self._note(step)
        self._move(step.pair if isinstance(step, Told) else ())

    def rewind(self, count: int) -> None:
        """Go back to where the first ``count`` steps had led."""
        steps = self.steps[:count]
        kept = [each for each in self._kept if each.steps <= count]
        self._begin()
        if not kept:
            for step in steps:
                self.take(step)
            return
        last = kept.pop()
        self._kept = kept
        self.steps = steps[: last.steps]
        for step in self.steps:
            self._note(step)
        self._beliefs.scores, self._beliefs.errors = last.scores.copy(), last.errors
        for step in steps[last.steps :]:
            self.take(step)

    def ask(self) -> Pair | None:
        """The pair to ask; None when none is left that may be asked."""
        return best_question(self._beliefs, self.k, fade=self._fade, limit=self.limit)

    def quality(self) -> float:
        """A quick estimate of the expected kappa-NDCG, a little too hopeful."""
        return quality_now(self._beliefs, self.k)

    def conclude(self) -> Conclusion:
        """The list and its certainty; the state stays as it is."""
        posterior = self._beliefs
        scores, errors = posterior.scores.copy(), posterior.errors
        try:
            return conclude(posterior, self.k, self._rng(_END))
        finally:
            posterior.scores, posterior.errors = scores, errors

    def fork(self) -> "RobustSorter":
        """A sorter in the same state that goes on by itself."""
        twin = copy(self)
        twin.steps = list(self.steps)
        twin._kept = list(self._kept)
        twin._beliefs = self._beliefs.fork()
        return twin

    @property
    def nbytes(self) -> int:
        """The bytes of the chains, of their states before the last steps, and of what was told."""
        posterior = self._beliefs
        arrays = (posterior.scores, posterior.errors, posterior.asked)
        kept = sum(each.scores.nbytes + each.errors.nbytes for each in self._kept)
        return sum(each.nbytes for each in arrays) + kept + _BYTES_PER_PLACE * self.n

    @property
    def _fade(self) -> float:
        return fade_at(len(self.steps) / max(1, self.span), self.limit)

    def _note(self, step: Event) -> None:
        if isinstance(step, Told):
            self._beliefs.record(step.pair, step.preference)
        else:
            self._beliefs.remove(step.place)

    def _move(self, pair: tuple[int, ...]) -> None:
        """Draw anew the scores of the pair, of promising documents and of some others."""
        posterior, rng = self._beliefs, self._rng(_STEP)
        promising = self._promising()
        others = rng.permutation(promising[REFRESHED:])[:REFRESHED]
        posterior.move([*pair, *promising[:REFRESHED].tolist(), *others.tolist(), *pair], rng)
        posterior.draw_errors(rng)

    def _promising(self) -> NDArray[np.intp]:
        """The living places by the mean of what their ranks are worth."""
        posterior = self._beliefs
        means = worths(posterior, self.k, self._fade).mean(axis=1)
        living = posterior.living
        return living[np.argsort(-means[living], kind="stable")]

    def _keep(self) -> None:
        posterior = self._beliefs
        self._kept.append(_Kept(len(self.steps), posterior.scores.copy(), posterior.errors))
        most = max(1, min(MOST_KEPT, KEPT_BYTES // max(1, posterior.scores.nbytes)))
        del self._kept[:-most]

    def _rng(self, purpose: int) -> np.random.Generator:
        steps = len(self.steps) if purpose != _START else 0
        return np.random.default_rng([self._seed, purpose, steps])

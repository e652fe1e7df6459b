"""The robust sorter as one object: add answers, rewind, get the next pair, conclude.

Its state is a function of the seed and the ordered answers: the same answers give the same state,
up to rounding.
"""

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import (
    Conclusion,
    conclude,
    error_rate_of,
    errors_of,
    quality_of,
)
from topkapi.app.domain.pairs.robust.error_prior import ONE, ErrorPrior
from topkapi.app.domain.pairs.robust.posterior import Posterior
from topkapi.app.domain.pairs.robust.question import (
    DRAWS,
    Sampled,
    best_question,
    ranks_of_interest,
    sampled,
)

FloatArray = NDArray[np.float64]

TRIAL = 12  # answers of a person before they may be taken for random
AT_RANDOM = 0.5  # expected lapse from which on a person's answers say little
REFINE_EVERY = 12  # answers; in long lists a quarter of the pages
_ASK, _END = range(2)  # purposes of random numbers


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer that compares two documents, given by index, and whose it is."""

    pair: Pair
    preference: Preference
    person: int = 0


@dataclass(frozen=True, slots=True)
class Removed:
    """One document removed from the sorter run, given by index."""

    index: int


Event = Answered | Removed


class RobustSorter:
    """A posterior over the orders of ``n`` documents, of which the best ``k`` are wanted.

    No pair is asked more than ``limit`` times. Over about ``span`` answers the question choice
    narrows from the whole list to its head. There is a prior per person who answers; ``guide`` has
    the scores of a ranker, whose worth is learned. Of the first ``started_with`` documents, which
    were compared before the others were added, no two are asked.
    """

    def __init__(
        self,
        n: int,
        k: int,
        *,
        seed: int,
        span: int,
        limit: int = 1,
        goal: Goal = Goal.ORDER,
        priors: Sequence[ErrorPrior] = (ONE,),
        guide: Sequence[float] | None = None,
        started_with: int = 0,
    ) -> None:
        self._started_with = started_with
        self.n, self.k, self.span, self.limit, self.goal = n, k, span, limit, goal
        self._priors, self._guide, self._seed = priors, guide, seed
        self._every = max(REFINE_EVERY, n // 4)
        self._reset()

    def _reset(self) -> None:
        self.steps: list[Event] = []
        self._posterior = Posterior(self.n, self._priors, self._guide)
        self._saved: tuple[int, Posterior] | None = None  # after some steps, so that undo is short
        self._drawn: Sampled | None = None

    @property
    def priors(self) -> Sequence[ErrorPrior]:
        """The priors of the people who answer."""
        return self._priors

    def take(self, step: Event) -> None:
        """Apply an answer, or a removal, which drops all answers about the document."""
        if isinstance(step, Answered):
            self._posterior.take(step.pair, step.preference, step.person)
        else:
            self._posterior.remove(step.index)
        self.steps.append(step)
        self._drawn = None
        if len(self.steps) % self._every == 0:
            self._posterior.refine()
            self._saved = len(self.steps), self._posterior.fork()

    def rewind(self, count: int) -> None:
        """Return to the state after the first ``count`` steps."""
        steps, saved = self.steps[:count], self._saved
        self._reset()
        if saved is not None and saved[0] <= count:
            self.steps = steps[: saved[0]]
            self._posterior, self._saved = saved[1].fork(), saved
        for step in steps[len(self.steps) :]:
            self.take(step)

    def ask(self, person: int = 0, open_elsewhere: Collection[Pair] = ()) -> Pair | None:
        """Return the pair to ask ``person``; None if every allowed pair was asked, or is open."""
        posterior = self._posterior
        if posterior.living.size < 2:
            return None
        return best_question(
            posterior,
            self._draws(),
            share=len(self.steps) / max(1, self.span),
            limit=self.limit,
            goal=self.goal,
            person=person,
            open_elsewhere=open_elsewhere,
            started_with=self._started_with,
        )

    def worth_asking(self) -> list[int]:
        """Return the people whose answers say something; everybody if nobody's do.

        A person is told from one who answers at random after some answers.
        """
        posterior, everybody = self._posterior, list(range(len(self._priors)))
        if len(everybody) == 1:
            return everybody
        lapses = posterior.weights @ posterior.lapses()
        return [
            person
            for person in everybody
            if posterior.answers_of(person) < TRIAL or lapses[person] < AT_RANDOM
        ] or everybody

    def quality(self) -> float:
        """Return a quick, slightly optimistic estimate of the quality that the goal is about."""
        return quality_of(self._draws().best, self.k, self.goal)

    def errors_of(self, person: int) -> tuple[tuple[float, ...], ...]:
        """Return means and variances of a person's error model now, and the error rate."""
        return *errors_of(self._posterior, person), (error_rate_of(self._posterior, person),)

    def may_stop_at(self, quality: float) -> bool:
        """Return whether a list of this quality is expected."""
        return self.quality() >= quality and self.conclude().quality(self.goal) >= quality

    def conclude(self) -> Conclusion:
        """Return the list and the confidence in it, without changing the state."""
        posterior = self._posterior.fork()
        posterior.refine()
        return conclude(posterior, self.k, self._random(_END), self.goal)

    def evidence(self) -> list[FloatArray]:
        """Return the log evidence of each person's answers for the cells of the grid."""
        posterior = self._posterior
        return [posterior.evidence_of(each).ravel() for each in range(posterior.people)]

    def fork(self) -> "RobustSorter":
        """Return an independent copy in the same state."""
        twin = copy(self)
        twin.steps, twin._posterior = list(self.steps), self._posterior.fork()
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes of the posterior, of the saved one, and of the draws."""
        saved = 0 if self._saved is None else self._saved[1].nbytes
        drawn = 0 if self._drawn is None else self._drawn.scores.nbytes + self._drawn.best.nbytes
        return self._posterior.nbytes + saved + drawn

    def _draws(self) -> Sampled:
        if self._drawn is None:
            ranks = ranks_of_interest(self.k, self.goal)
            self._drawn = sampled(self._posterior, ranks, DRAWS, self._random(_ASK))
        return self._drawn

    def _random(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, purpose, len(self.steps)])

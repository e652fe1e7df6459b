"""The robust sorter as one object: add answers, rewind, get the next pair, conclude.

Its state is a function of the seed and the ordered answers: the same answers give the same state,
up to rounding.
"""

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass

import numpy as np

from topkapi.app.domain.draws import draw_integer
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, conclude, quality_of
from topkapi.app.domain.pairs.robust.error_prior import GENERAL, ErrorPrior
from topkapi.app.domain.pairs.robust.normal import FloatArray
from topkapi.app.domain.pairs.robust.posterior import Posterior
from topkapi.app.domain.pairs.robust.question import (
    BREADTH,
    DRAWS,
    Sampled,
    best_question,
    sampled,
)
from topkapi.app.domain.pairs.sorters.heap import heap_questions

TRIAL = 12  # answers of a person before they may be taken for random
AT_RANDOM = 0.5  # expected lapse from which on a person's answers say little
REFINE_EVERY = 12  # answers; in long lists a quarter of the pages
_ASK, _END = range(2)  # purposes of random numbers


@dataclass(frozen=True, slots=True)
class Rules:
    """When to end, how often a pair may be asked, what the questions are for, and what is known.

    There are as many people as ``priors``; ``guide`` has a ranker's scores, whose worth is learned.
    Of the first ``started_with`` documents, which were compared before the others were added, no
    two are asked.
    """

    budget: int = 0
    stop_at: float | None = None
    limit: int = 1
    goal: Goal = Goal.ORDER
    priors: tuple[ErrorPrior, ...] = (GENERAL,)
    guide: tuple[float, ...] | None = None
    started_with: int = 0


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

    Over about as many answers as a heap asks, the question choice narrows from the whole list to
    its head. Draws are determined by ``seed``.
    """

    def __init__(self, n: int, k: int, rules: Rules, seed: str) -> None:
        self.n, self.k, self.rules = n, k, rules
        self._seed = draw_integer(seed, "robust")
        self._span, self._every = max(1, heap_questions(n, k)), max(REFINE_EVERY, n // 4)
        self._reset()

    def _reset(self) -> None:
        self.steps: list[Event] = []
        self._posterior = Posterior(self.n, self.rules.priors, self.rules.guide)
        self._saved: tuple[int, Posterior] | None = None  # after some steps, so that undo is short
        self._drawn: Sampled | None = None

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
        posterior, rules = self._posterior, self.rules
        if posterior.living.size < 2:
            return None
        return best_question(
            posterior,
            self._draws(),
            share=len(self.steps) / self._span,
            limit=rules.limit,
            goal=rules.goal,
            person=person,
            open_elsewhere=open_elsewhere,
            started_with=rules.started_with,
        )

    def next_pair(
        self, asked: int, person: int = 0, open_elsewhere: Collection[Pair] = ()
    ) -> Pair | None:
        """Return the pair to ask ``person`` after ``asked`` questions; None to conclude."""
        rules = self.rules
        if asked >= rules.budget or (rules.stop_at and self.may_stop_at(rules.stop_at)):
            return None
        return self.ask(person, open_elsewhere)

    def worth_asking(self) -> list[int]:
        """Return the people whose answers say something; everybody if nobody's do.

        A person is told from one who answers at random after some answers.
        """
        posterior, everybody = self._posterior, list(range(len(self.rules.priors)))
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
        return quality_of(self._draws().best, self.k, self.rules.goal)

    def errors_of(self, person: int) -> tuple[tuple[float, ...], ...]:
        """Return means and variances of a person's error model now, and the error rate."""
        return *self._posterior.errors_of(person), (self._posterior.error_rate_of(person),)

    def may_stop_at(self, quality: float) -> bool:
        """Return whether a list of this quality is expected."""
        return self.quality() >= quality and self.conclude().quality(self.rules.goal) >= quality

    def conclude(self) -> Conclusion:
        """Return the list and the confidence in it, without changing the state."""
        posterior = self._posterior.fork()
        posterior.refine()
        return conclude(posterior, self.k, self._random(_END))

    def evidence(self) -> list[FloatArray]:
        """Return the log evidence of each person's answers for the cells of the grid."""
        everybody = range(len(self.rules.priors))
        return [self._posterior.evidence_of(each).ravel() for each in everybody]

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
            ranks = max(self.k, BREADTH) if self.rules.goal is Goal.ORDER else self.k
            self._drawn = sampled(self._posterior, ranks, DRAWS, self._random(_ASK))
        return self._drawn

    def _random(self, purpose: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, purpose, len(self.steps)])

"""The robust sorter as one object: add answers, rewind, get the next pair, conclude.

Its state is a function of the seed and the ordered answers: every step draws from a generator of
its own, keyed by the seed and the step's number. The same answers give the same state.
"""

from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.answers import Pair, Preference
from topkapi.app.domain.pairs.robust.conclusion import Conclusion, conclude, quality_now
from topkapi.app.domain.pairs.robust.error_prior import ErrorPrior, moved
from topkapi.app.domain.pairs.robust.posterior import CHAINS, Chains, Posterior
from topkapi.app.domain.pairs.robust.question import (
    best_question,
    by_mean_worth,
    fade_at,
    weights_of,
)
from topkapi.app.domain.pairs.robust.special import draws, streams
from topkapi.app.domain.pairs.robust.study_errors import LEAST, evidence

FloatArray = NDArray[np.float64]

TRIAL = 12  # answers of a person before they may be taken for random
AT_RANDOM = 1.0 / 3.0  # error rate from which on a person's answers say little
REFRESHED = 5  # least number of promising documents, and of others, redrawn at every step
REFRESHED_SHARE = 4  # one document in this many, if that is more
SNAPSHOT_BYTES = 160_000  # for snapshots before the last steps, so that undo needs no replay
MAX_SNAPSHOTS = 4
_BYTES_PER_DOCUMENT = 1200  # approximate size of a document's opponents
EVIDENCE_SWEEPS = 40  # of all documents; with few, chains look surer than answers make them
_START, _STEP, _END, _WEIGH, _OTHERS, _LEARN = range(6)  # purposes of random numbers


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


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """State of the chains after ``steps`` steps."""

    steps: int
    chains: Chains

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self.chains)


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
        priors: Sequence[ErrorPrior] = (ErrorPrior(),),
        guide: Sequence[float] | None = None,
        started_with: int = 0,
        chains: int = CHAINS,
    ) -> None:
        self._started_with = started_with
        self.n, self.k, self.span, self.limit, self.goal = n, k, span, limit, goal
        self._priors, self._guide = priors, guide
        self._seed, self._chains = seed, chains
        self._reset()

    def _reset(self) -> None:
        self.steps: list[Event] = []
        self._snapshots: list[_Snapshot] = []
        self._posterior = Posterior(
            self.n,
            np.random.default_rng([self._seed, _START]),
            priors=self._priors,
            guide=self._guide,
            chains=self._chains,
        )

    @property
    def priors(self) -> Sequence[ErrorPrior]:
        """The priors of the people who answer."""
        return self._priors

    def take(self, step: Event) -> None:
        """Apply an answer, or a removal, which drops all answers about the document."""
        self._save_snapshot()
        if isinstance(step, Answered):
            draw = float(draws(self._streams(_WEIGH, 1), 1)[0])
            self._posterior.resample(step.pair, step.preference, draw, step.person)
        self.steps.append(step)
        self._record(step)
        self._move(step.pair if isinstance(step, Answered) else ())

    def rewind(self, count: int) -> None:
        """Return to the state after the first ``count`` steps."""
        steps = self.steps[:count]
        earlier = [each for each in self._snapshots if each.steps <= count]
        self._reset()
        if not earlier:
            for step in steps:
                self.take(step)
            return
        last = earlier.pop()
        self._snapshots = earlier
        self.steps = steps[: last.steps]
        for step in self.steps:
            self._record(step)
        self._posterior.restore(last.chains)
        for step in steps[last.steps :]:
            self.take(step)

    def ask(self, person: int = 0, open_elsewhere: Collection[Pair] = ()) -> Pair | None:
        """Return the pair to ask ``person``; None if every allowed pair was asked, or is open."""
        return best_question(
            self._posterior,
            self.k,
            fade=self._fade,
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
        found = [
            person
            for person in everybody
            if posterior.answers_of(person) < TRIAL or posterior.error_rate_of(person) < AT_RANDOM
        ]
        return found or everybody

    def quality(self) -> float:
        """Return a quick, slightly optimistic estimate of the quality that the goal is about."""
        return quality_now(self._posterior, self.k, self.goal)

    def errors_of(self, person: int) -> tuple[tuple[float, ...], ...]:
        """Return means and variances of a person's error model now, and the error rate."""
        models = moved(self._posterior.errors_of(person))
        rate = self._posterior.error_rate_of(person)
        return tuple(models.mean(axis=0).tolist()), tuple(models.var(axis=0).tolist()), (rate,)

    def may_stop_at(self, quality: float) -> bool:
        """Return whether a list of this quality is expected, whatever the kind of errors."""
        if quality_now(self._posterior, self.k, self.goal, cautious=True) < quality:
            return False
        return self.conclude().cautious_quality(self.goal) >= quality

    def conclude(self) -> Conclusion:
        """Return the list and the confidence in it, without changing the state."""
        posterior = self._posterior
        chains = posterior.saved()
        try:
            return conclude(posterior, self.k, self._streams(_END, self._chains), self.goal)
        finally:
            posterior.restore(chains)

    def evidence(self) -> list[FloatArray]:
        """Return how well each error model explains each person's answers; the state stays."""
        posterior, states = self._posterior, self._streams(_LEARN, self._chains)
        chains, found = posterior.saved(), []
        for sweep in range(EVIDENCE_SWEEPS):
            posterior.move(posterior.living, states)
            posterior.move_models(states)
            if sweep >= EVIDENCE_SWEEPS // 2 and sweep % 5 == 0:
                found.append([evidence(posterior, person) for person in range(posterior.people)])
        posterior.restore(chains)
        return list(np.log(np.mean(found, axis=0) + LEAST))

    def fork(self) -> "RobustSorter":
        """Return an independent copy in the same state."""
        twin = copy(self)
        twin.steps = list(self.steps)
        twin._snapshots = list(self._snapshots)
        twin._posterior = self._posterior.fork()
        return twin

    @property
    def nbytes(self) -> int:
        """Bytes of the chains, of their snapshots, and of the answers."""
        posterior = self._posterior
        snapshots = sum(each.nbytes for each in self._snapshots)
        return posterior.nbytes + snapshots + _BYTES_PER_DOCUMENT * self.n

    @property
    def _fade(self) -> float:
        return fade_at(len(self.steps) / max(1, self.span), self.goal)

    def _record(self, step: Event) -> None:
        if isinstance(step, Answered):
            self._posterior.record(step.pair, step.preference, step.person)
        else:
            self._posterior.remove(step.index)

    def _move(self, pair: tuple[int, ...]) -> None:
        """Redraw the scores of the pair, of promising documents and of some others.

        Chains that were just copied differ only in what is redrawn: with few redrawn documents
        the others soon have the same score in every chain.
        """
        posterior, states = self._posterior, self._streams(_STEP, self._chains)
        promising = by_mean_worth(posterior, weights_of(self.k, self._fade, self.goal))
        count = max(REFRESHED, self.n // REFRESHED_SHARE)
        rest = promising[count:]
        others = rest[np.argsort(draws(self._streams(_OTHERS, 1), rest.size))][:count]
        posterior.move([*pair, *promising[:count].tolist(), *others.tolist()], states)
        posterior.move_models(states)

    def _save_snapshot(self) -> None:
        posterior = self._posterior
        saved = _Snapshot(len(self.steps), posterior.saved())
        self._snapshots.append(saved)
        most = max(1, min(MAX_SNAPSHOTS, SNAPSHOT_BYTES // max(1, saved.nbytes)))
        del self._snapshots[:-most]

    def _streams(self, purpose: int, count: int) -> NDArray[np.uint64]:
        """Return the states of random streams for one purpose at this step."""
        return streams(np.uint64(self._seed), purpose, len(self.steps), count)


def compile_all() -> None:
    """Run a short session with every kind of answer."""
    sorter = RobustSorter(12, 2, seed=0, span=8)
    for preference in (Preference.FIRST, Preference.SECOND, Preference.TIE):
        pair = sorter.ask()
        assert pair is not None
        sorter.take(Answered(pair, preference))
    sorter.ask()
    sorter.conclude()
    sorter.evidence()
    sorter.rewind(2)

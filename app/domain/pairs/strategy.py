"""Strategies of a session: from the effective answers to the next pair or the ranking."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair
from topkapi.app.domain.pairs.confidence import ErrorWeights, ListConfidence
from topkapi.app.domain.pairs.sorters.ranking import Ranking

EVIDENCE = "evidence_3"  # key of the evidence about errors; another grid of models gets another one
CELLS = 54  # of that grid


@dataclass(frozen=True, slots=True)
class AskPair:
    """The pair to ask next, and the expected quality of the list before the answer."""

    pair: Pair
    quality: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The final ranking; a sampled sorter adds its confidence.

    A team adds the pages that somebody removed, as bad and as unjudgeable. ``waits``: there is no
    question for this person now, but the others have not finished.
    """

    ranking: Ranking
    confidence: ListConfidence | None = None
    removed: tuple[tuple[ItemId, ...], tuple[ItemId, ...]] | None = None
    waits: bool = False


Step = AskPair | Done


class Strategy(Protocol):
    """Interface between a session and its sorter; ``done`` are the effective answers.

    ``sampled``: the next step is drawn at random, so it is stored with the session, and a replay
    trusts the recorded answers.
    """

    sampled: bool

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays in memory."""
        ...

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Apply ``judgment``, the last of ``done``."""
        ...

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Revert ``judgment``, which has been removed from ``done``."""
        ...

    def step(self) -> Step:
        """Return the next pair to ask, or the final ranking."""
        ...

    def left(self) -> int | None:
        """Return the maximum number of questions left; None if it is unknown."""
        ...

    def quality(self) -> float | None:
        """Return the expected quality of the list, if the strategy stops at some quality."""
        ...

    def use_prior(self, prior: ErrorWeights) -> None:
        """Start from what is known about the assessor's errors, before any question is drawn.

        ``prior`` holds log weights of error models; `ErrorPrior.of` reads it.
        """
        ...

    def fork(self) -> "Strategy":
        """Return an independent copy in the same state."""
        ...


def step_to_json(step: Step, *, after: int) -> dict[str, Any]:
    """Return ``step``, reached after ``after`` answers, as a plain dictionary."""
    if isinstance(step, AskPair):
        asked = {"after": after, "pair": list(step.pair)}
        return asked if step.quality is None else {**asked, "quality": step.quality}
    ended: dict[str, Any] = {"after": after, "ranking": [list(items) for items in step.ranking]}
    if step.removed is not None:
        ended["removed"] = [list(items) for items in step.removed]
    if step.confidence is not None:
        ended["confidence"] = step.confidence.as_json()
    return ended


def prior_in(stored: Mapping[str, Any] | None) -> ErrorWeights | None:
    """Return the prior of the assessor's errors that is stored with a step, if any.

    Earlier versions of `robust` stored means and precisions, or weights of another grid, which say
    nothing here.
    """
    found = (stored or {}).get("prior")
    return tuple(found) if found is not None and len(found) == CELLS else None


def step_from_json(stored: Mapping[str, Any]) -> tuple[int, Step]:
    """Read the number of answers and the step that `step_to_json` wrote."""
    if "pair" in stored:
        first, second = stored["pair"]
        return stored["after"], AskPair((first, second), stored.get("quality"))
    confidence, removed = stored.get("confidence"), stored.get("removed")
    return stored["after"], Done(
        tuple(tuple(items) for items in stored["ranking"]),
        None if confidence is None else ListConfidence.from_json(confidence),
        None if removed is None else (tuple(removed[0]), tuple(removed[1])),
    )

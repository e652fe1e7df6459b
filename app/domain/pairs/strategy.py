"""Strategies of a session: from the effective answers to the next pair or the ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from topkapi.app.domain.pairs.answers import ItemId, Judgment, Pair
from topkapi.app.domain.pairs.confidence import ErrorModel, ListConfidence
from topkapi.app.domain.pairs.sorters.ranking import Ranking


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

    def use_prior(self, prior: ErrorModel) -> None:
        """Start from what is known about the assessor's errors, before any question is drawn.

        ``prior`` holds means and precisions; `ErrorPrior.of` reads it.
        """
        ...

    def fork(self) -> "Strategy":
        """Return an independent copy in the same state."""
        ...

"""The strategy of a session: how effective answers lead to the next pair, or to the ranking."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from topkapi.app.domain.pairs.answers import Judgment, Pair
from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.sorters.registry import Ranking


@dataclass(frozen=True, slots=True)
class AskPair:
    """The pair that must be asked next, and how good the list is expected to be before that."""

    pair: Pair
    quality: float | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """The ranking that the answers have led to; a sampled sorter says how sure it is."""

    ranking: Ranking
    confidence: ListConfidence | None = None


Step = AskPair | Done


class Strategy(Protocol):
    """What a session needs of its sorter; ``done`` are the answers that stand.

    ``sampled``: where a strategy leads is drawn at random, so it is stored with the session, and a
    replay goes by what is recorded.
    """

    sampled: bool

    @property
    def nbytes(self) -> int:
        """The bytes of arrays that it keeps."""
        ...

    def take(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Go on from ``judgment``, the last of ``done``."""
        ...

    def take_back(self, judgment: Judgment, done: Sequence[Judgment]) -> None:
        """Go back behind ``judgment``, which has left ``done``."""
        ...

    def step(self) -> Step:
        """Where the answers have led."""
        ...

    def left(self) -> int | None:
        """How many questions are left at most, if that is known for sure."""
        ...

    def quality(self) -> float | None:
        """The expected quality of the list, where the strategy goes on until it is good enough."""
        ...

    def fork(self) -> "Strategy":
        """A strategy at the same place that can go on without this one."""
        ...

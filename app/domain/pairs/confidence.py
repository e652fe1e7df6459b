"""Confidence in a list, as plain values that can be stored with a session."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from topkapi.app.domain.pairs.answers import ItemId


@dataclass(frozen=True, slots=True)
class PageConfidence:
    """Probability that a page is in the top k, and its 90 % interval of ranks."""

    item: ItemId
    in_top: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class ListConfidence:
    """The most probable list, and the confidence in it and in the sorter's list.

    ``quality`` is the expected kappa-NDCG of ``ranking``; ``concluded_quality`` that of the list
    that the sorter returned. ``error_rate`` is the estimated error rate of the assessor. ``pages``
    has the listed pages first, then all others whose probability of being in the top k is at least
    0.001, by descending probability.
    """

    ranking: tuple[ItemId, ...]
    quality: float
    concluded_quality: float | None
    error_rate: float
    answers: int
    pages: tuple[PageConfidence, ...]

    def as_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads back."""
        return {
            "ranking": list(self.ranking),
            "quality": self.quality,
            "concluded_quality": self.concluded_quality,
            "error_rate": self.error_rate,
            "answers": self.answers,
            "pages": [[page.item, page.in_top, page.low, page.high] for page in self.pages],
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ListConfidence":
        """Read the confidence that `as_json` wrote."""
        return cls(
            ranking=tuple(stored["ranking"]),
            quality=stored["quality"],
            concluded_quality=stored["concluded_quality"],
            error_rate=stored["error_rate"],
            answers=stored["answers"],
            pages=tuple(PageConfidence(*page) for page in stored["pages"]),
        )

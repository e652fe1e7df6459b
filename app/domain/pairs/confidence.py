"""Confidence in a list, as plain values that can be stored with a session."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from topkapi.app.domain.pairs.answers import ItemId

ErrorWeights = tuple[float, ...]  # log weights of the cells of a grid of error models
ErrorModel = tuple[tuple[float, ...], tuple[float, ...]]  # means and variances of the parameters


@dataclass(frozen=True, slots=True)
class PageConfidence:
    """Probability that a page is in the top k, and its 90 % interval of ranks."""

    item: ItemId
    in_top: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected value of a measure of a list, with its central 90 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ListConfidence:
    """The most probable list, and the confidence in it and in the sorter's list.

    ``quality`` is the expected kappa-NDCG of ``ranking``; ``concluded_quality`` that of the list
    that the sorter returned. ``kappa_ndcg`` and ``overlap`` are the expected measures of the list
    that the sorter returned, or of ``ranking`` if it has not finished. ``error_rate`` is the
    estimated mean error of the assessor over random pairs, ``error_model`` the means and variances
    of the learned parameters. ``pages`` has the listed pages first, then all others whose
    probability of being in the top k is at least 0.001, by descending probability.
    With a ranker's scores they count them, and ``without_prior`` is the expected kappa-NDCG of the
    same list without.

    Confidence stored by version 1 of `robust` has no measures with intervals and no error model.
    """

    ranking: tuple[ItemId, ...]
    quality: float
    concluded_quality: float | None
    error_rate: float
    answers: int
    pages: tuple[PageConfidence, ...]
    kappa_ndcg: Expected | None = None
    overlap: Expected | None = None
    error_model: ErrorModel | None = None
    without_prior: Expected | None = None

    def as_json(self) -> dict[str, Any]:
        """Return plain values that `from_json` reads back."""
        measured = {
            "kappa_ndcg": self.kappa_ndcg,
            "overlap": self.overlap,
            "without_prior": self.without_prior,
        }
        return {
            "ranking": list(self.ranking),
            "quality": self.quality,
            "concluded_quality": self.concluded_quality,
            "error_rate": self.error_rate,
            "answers": self.answers,
            "pages": [[page.item, page.in_top, page.low, page.high] for page in self.pages],
            **{name: list(astuple(value)) for name, value in measured.items() if value},
            **({} if self.error_model is None else {"error_model": list(self.error_model)}),
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
            kappa_ndcg=_expected(stored.get("kappa_ndcg")),
            overlap=_expected(stored.get("overlap")),
            error_model=_error_model(stored.get("error_model")),
            without_prior=_expected(stored.get("without_prior")),
        )


def _expected(stored: Sequence[float] | None) -> Expected | None:
    return None if stored is None else Expected(*stored)


def _error_model(stored: Sequence[Sequence[float]] | None) -> ErrorModel | None:
    return None if stored is None else (tuple(stored[0]), tuple(stored[1]))

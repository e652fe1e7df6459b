"""Reliability of the members of teams: how each of them errs, as the sorter has learned it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, sqrt
from typing import Any

from topkapi.app.domain.pairs.confidence import Expected

ENOUGH = 30  # answers before somebody may be taken to answer at random
AT_RANDOM = 0.5  # lapse from which on answers say little
_Z = 1.645  # of a central 90 % interval


@dataclass(frozen=True, slots=True)
class Reliability:
    """How a person errs, each value with its 90 % interval.

    ``lapse`` is the share of answers that have nothing to do with the pages; ``width`` how far
    apart pages must be, in standard deviations of their scores, before they are rarely confused;
    ``tie_width`` how close they are when called equal. ``error_rate`` is the mean error over random
    pairs.
    """

    answers: int
    error_rate: float
    lapse: Expected
    width: Expected
    tie_width: Expected

    @property
    def is_random(self) -> bool:
        """Whether the person seems to answer at random."""
        return self.answers >= ENOUGH and self.lapse.mean >= AT_RANDOM


def reliability_of(evidence: Sequence[tuple[int, Sequence[Sequence[float]]]]) -> Reliability | None:
    """Return the reliability of a person from their queries; None without answers.

    Of each query there is the number of answers and what a team stores with a member: means and
    variances of the parameters, and the error rate. Queries weigh by their answers.
    """
    total = sum(answers for answers, _ in evidence)
    if not total:
        return None
    weighted = [(answers / total, stored) for answers, stored in evidence]

    def pooled(*columns: int) -> tuple[float, float]:
        """Return mean and standard deviation of the sum of parameters."""
        mean = sum(weight * stored[0][at] for weight, stored in weighted for at in columns)
        variance = sum(weight**2 * stored[1][at] for weight, stored in weighted for at in columns)
        return mean, sqrt(variance)

    return Reliability(
        answers=total,
        error_rate=round(sum(weight * stored[2][0] for weight, stored in weighted), 4),
        lapse=_interval(pooled(0), _share),
        width=_interval(pooled(1), exp),
        tie_width=_interval(pooled(1, 2), exp),
    )


def errors_in(pending_question: Mapping[str, Any] | None) -> Sequence[Sequence[float]] | None:
    """Return what a team stores about the errors of a member, if anything."""
    found = (pending_question or {}).get("errors")
    return found if found is not None and len(found) == 3 else None


def _interval(found: tuple[float, float], transform: Callable[[float], float]) -> Expected:
    mean, deviation = found
    ends = (mean, mean - _Z * deviation, mean + _Z * deviation)
    return Expected(*(round(transform(end), 4) for end in ends))


def _share(logit: float) -> float:
    return 1.0 / (1.0 + exp(-logit))

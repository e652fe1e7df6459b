"""What the answers of any session make probable, whichever sorter asked for them.

It stands beside the list that the assessor's sorter concluded, and never in its place.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.answers import ItemId, Judgment
from app.domain.plan import Plan
from app.domain.robust.conclusion import Certainty
from app.domain.robust.course import RobustCourse
from app.domain.robust.gains import discounts
from app.domain.session import Finished, PairSession


@dataclass(frozen=True, slots=True)
class PageConfidence:
    """The chance that a page is in the top k, and the ranks that nine in ten orders give it."""

    item: ItemId
    in_top: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Confidence:
    """The most probable list, and how far to trust it and the one that was concluded.

    ``quality`` is the expected kappa-NDCG of ``ranking``; ``concluded_quality`` that of the list
    the sorter ended with. ``error_rate`` is how often the assessor seems to err. ``pages`` has
    every page in the contest, listed ones first, then by chance.
    """

    ranking: tuple[ItemId, ...]
    quality: float
    concluded_quality: float | None
    error_rate: float
    answers: int
    pages: tuple[PageConfidence, ...]


def confidence_in(session: PairSession) -> Confidence:
    """What the answers that stand in ``session`` make probable, finished or not.

    It takes some two milliseconds an answer, unless the session's own sorter is `robust` and alive.
    """
    state, course = session.state, session.course
    concluded = state.result.ranking if isinstance(state, Finished) else ()
    if isinstance(course, RobustCourse):
        return _summed_up(session.plan, course, session.effective, concluded)
    return confidence_of(session.plan, session.effective, concluded)


def confidence_of(
    plan: Plan, judgments: Sequence[Judgment], concluded: Sequence[ItemId] = ()
) -> Confidence:
    """What ``judgments``, the answers that stand in a session of ``plan``, make probable.

    ``concluded`` is the list the session ended with, if it did. Checks count as answers.
    """
    course = RobustCourse(plan)
    done: list[Judgment] = []
    for judgment in judgments:
        done.append(judgment)
        course.take(judgment, done)
    return _summed_up(plan, course, judgments, concluded)


def _summed_up(
    plan: Plan, course: RobustCourse, judgments: Sequence[Judgment], concluded: Sequence[ItemId]
) -> Confidence:
    found = course.conclude()
    sure = {plan.order[each.place]: each for each in found.certainties}
    ranking = tuple(plan.order[place] for place in found.ranking)
    others = sorted(sure.keys() - set(ranking), key=lambda item: (-sure[item].in_top, item))
    return Confidence(
        ranking=ranking,
        quality=found.quality,
        concluded_quality=_expected(concluded, sure, plan.k) if concluded else None,
        error_rate=found.error_rate,
        answers=sum(judgment.answer.is_preference for judgment in judgments),
        pages=tuple(
            PageConfidence(item, sure[item].in_top, sure[item].low, sure[item].high)
            for item in (*ranking, *others)
        ),
    )


def _expected(listed: Sequence[ItemId], sure: dict[ItemId, Certainty], k: int) -> float:
    """The expected kappa-NDCG of ``listed``; a page out of the contest adds nothing."""
    gains = (sure[item].gain if item in sure else 0.0 for item in listed[:k])
    return sum(gain * float(weight) for gain, weight in zip(gains, discounts(k), strict=False))

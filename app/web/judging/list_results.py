"""A finished comparison of lists, as the person who judged sees it; no system is named."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.lists.session import Compared, ListAnswer
from app.services.judging.labeling import Standing
from app.services.judging.live_sessions import QueryHead
from app.services.judging.session_summary import Summary

ANSWER_NAMES = {
    ListAnswer.LEFT_MUCH: "Left much better",
    ListAnswer.LEFT: "Left better",
    ListAnswer.SAME: "The same",
    ListAnswer.RIGHT: "Right better",
    ListAnswer.RIGHT_MUCH: "Right much better",
}


@dataclass(frozen=True, slots=True)
class ComparedView:
    """How often each answer was given, in the order of the buttons."""

    assignment_id: int
    position: int
    query: QueryHead
    summary: Summary
    counts: Sequence[tuple[str, int]]
    same: int


def compared_view(standing: Standing, summary: Summary) -> ComparedView:
    """The result of a finished session with lists."""
    assert isinstance(standing.state, Compared)
    said = Counter(each.answer for each in standing.state.answers)
    return ComparedView(
        assignment_id=standing.assignment_id,
        position=standing.position,
        query=standing.query,
        summary=summary,
        counts=[(name, said[answer]) for answer, name in ANSWER_NAMES.items()],
        same=said[ListAnswer.SAME],
    )

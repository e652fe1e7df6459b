"""View of a finished comparison of lists, for the person who judged it; systems stay hidden."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from topkapi.app.domain.lists.session import ListAnswer, ListsCompared
from topkapi.app.services.judging.labeling import AssignmentState
from topkapi.app.services.judging.live_sessions import QueryHead
from topkapi.app.services.judging.session_summary import SessionSummary
from topkapi.app.web.judging.answer_names import LIST_ANSWERS


@dataclass(frozen=True, slots=True)
class ComparedView:
    """Number of times each answer was chosen, in the order of the buttons."""

    assignment_id: int
    position: int
    query: QueryHead
    summary: SessionSummary
    counts: Sequence[tuple[str, int]]
    same: int


def compared_view(assignment_state: AssignmentState, summary: SessionSummary) -> ComparedView:
    """Return the result of a finished session with lists."""
    assert isinstance(assignment_state.state, ListsCompared)
    counts = Counter(each.answer for each in assignment_state.state.answers)
    return ComparedView(
        assignment_id=assignment_state.assignment_id,
        position=assignment_state.position,
        query=assignment_state.query,
        summary=summary,
        counts=[(name, counts[ListAnswer(value)]) for value, name in LIST_ANSWERS.items()],
        same=counts[ListAnswer.SAME],
    )

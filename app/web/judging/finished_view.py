"""From a finished session to the page that shows it to the person who judged."""

from collections.abc import Iterable, Sequence

from topkapi.app.domain.grades.session import UNJUDGEABLE, Graded, GradePlan
from topkapi.app.domain.pairs.confidence import PageConfidence
from topkapi.app.domain.pairs.session import Finished, Result
from topkapi.app.services.judging.labeling import AssignmentState
from topkapi.app.services.judging.session_summary import Summary
from topkapi.app.web.judging.views import FinishedView, Listed, SureView

_NEAR = 0.1  # the chance of the top k from which a page outside the list is named
_MOST_NEAR = 10


def finished_view(assignment_state: AssignmentState, summary: Summary) -> FinishedView:
    """The result of a finished session: the top list, or the grades from best to worst."""
    ranking, bad, unjudgeable, others = _parts(assignment_state)
    return FinishedView(
        assignment_id=assignment_state.assignment_id,
        position=assignment_state.position,
        tool=assignment_state.tool,
        query=assignment_state.query,
        summary=summary,
        ranking=ranking,
        bad=bad,
        unjudgeable=unjudgeable,
        others=others,
        sure=_sure(assignment_state),
    )


_Parts = tuple[Sequence[Listed], Sequence[Listed], Sequence[Listed], int]


def _parts(assignment_state: AssignmentState) -> _Parts:
    if isinstance(assignment_state.state, Finished):
        result = assignment_state.state.result
        removed = (
            _listed(assignment_state, result.bad),
            _listed(assignment_state, result.unjudgeable),
        )
        return _ranking(assignment_state, result), *removed, len(result.rest)
    assert isinstance(assignment_state.state, Graded)
    grades = GradePlan.from_json(assignment_state.plan).grades
    given = [each for each in assignment_state.state.grades if each.grade != UNJUDGEABLE]
    given.sort(key=lambda each: -grades.index(each.grade))
    ranking = [_page(assignment_state, each.document, grade=each.grade) for each in given]
    broken = [each.document for each in assignment_state.state.grades if each.grade == UNJUDGEABLE]
    return ranking, (), _listed(assignment_state, broken), 0


def _ranking(assignment_state: AssignmentState, result: Result) -> Sequence[Listed]:
    tied = {number: len(group) - 1 for group in result.groups for number in group}
    sure = _confidence(assignment_state)
    return [
        _page(assignment_state, number, tied=tied.get(number, 0), sure=sure.get(number))
        for number in result.ranking
    ]


def _confidence(assignment_state: AssignmentState) -> dict[int, PageConfidence]:
    """How sure the place of each page is, where the sorter has said so."""
    told = (
        assignment_state.state.confidence if isinstance(assignment_state.state, Finished) else None
    )
    return {} if told is None else {page.item: page for page in told.pages}


def _sure(assignment_state: AssignmentState) -> SureView | None:
    if (
        not isinstance(assignment_state.state, Finished)
        or assignment_state.state.confidence is None
    ):
        return None
    told, listed = assignment_state.state.confidence, set(assignment_state.state.result.ranking)
    near = [
        _page(assignment_state, page.item, sure=page)
        for page in told.pages
        if page.item not in listed and page.in_top >= _NEAR
    ]
    return SureView(round(100 * told.quality), round(100 * told.error_rate), near[:_MOST_NEAR])


def _listed(assignment_state: AssignmentState, numbers: Iterable[int]) -> Sequence[Listed]:
    return [_page(assignment_state, number) for number in numbers]


def _page(
    assignment_state: AssignmentState,
    number: int,
    *,
    tied: int = 0,
    grade: str | None = None,
    sure: PageConfidence | None = None,
) -> Listed:
    head = assignment_state.documents[number]
    return Listed(head.title or head.name, head.url, tied, grade, sure)

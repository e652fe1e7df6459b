"""View of a finished session, for the person who judged it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import UNJUDGEABLE, Graded, GradePlan
from topkapi.app.domain.pairs.confidence import PageConfidence
from topkapi.app.domain.pairs.session import Finished, Result
from topkapi.app.services.judging.labeling import AssignmentState
from topkapi.app.services.judging.session_summary import SessionSummary
from topkapi.app.web.judging.open_pages import Opener
from topkapi.app.web.judging.ties import tie_text, tied_pages
from topkapi.app.web.judging.views import FinishedView, ListConfidenceView, Listed

_NEAR = 0.1  # least top-k probability of a page outside the list that is still shown
_MOST_NEAR = 10


def finished_view(
    assignment_state: AssignmentState, summary: SessionSummary, opened: Opener
) -> FinishedView:
    """Return the result of a finished session: the top list, or grades from best to worst.

    ``opened`` gives the link of each page, so that it can be opened again.
    """
    ranking, bad, unjudgeable, others = _parts(assignment_state, summary)
    return FinishedView(
        assignment_id=assignment_state.assignment_id,
        position=assignment_state.position,
        tool=assignment_state.tool,
        query=assignment_state.query,
        summary=summary,
        ranking=_linked(ranking, opened),
        bad=_linked(bad, opened),
        unjudgeable=_linked(unjudgeable, opened),
        others=others,
        confidence=_list_confidence(assignment_state, opened),
        adjudicates=assignment_state.tool is Tool.PAIRS and "pairs" in assignment_state.plan,
    )


_Parts = tuple[Sequence[Listed], Sequence[Listed], Sequence[Listed], int]


def _parts(assignment_state: AssignmentState, summary: SessionSummary) -> _Parts:
    if isinstance(assignment_state.state, Finished):
        result = assignment_state.state.result
        removed = (
            _listed(assignment_state, result.bad),
            _listed(assignment_state, result.unjudgeable),
        )
        return _ranking(assignment_state, result, summary), *removed, len(result.rest)
    assert isinstance(assignment_state.state, Graded)
    grades = GradePlan.from_json(assignment_state.plan).grades
    graded = [each for each in assignment_state.state.grades if each.grade != UNJUDGEABLE]
    graded.sort(key=lambda each: -grades.index(each.grade))
    ranking = [_page(assignment_state, each.document, grade=each.grade) for each in graded]
    broken = [each.document for each in assignment_state.state.grades if each.grade == UNJUDGEABLE]
    return ranking, (), _listed(assignment_state, broken), 0


def _ranking(
    assignment_state: AssignmentState, result: Result, summary: SessionSummary
) -> Sequence[Listed]:
    tied = tied_pages(result.groups, summary.tied_pairs)
    confidence = _page_confidences(assignment_state)
    return [
        _page(
            assignment_state,
            number,
            tied=tie_text(tied.get(number, set()), result.ranking),
            confidence=confidence.get(number),
        )
        for number in result.ranking
    ]


def _page_confidences(assignment_state: AssignmentState) -> dict[int, PageConfidence]:
    """Return the confidence of each page by number, empty if the sorter reports none."""
    confidence = (
        assignment_state.state.confidence if isinstance(assignment_state.state, Finished) else None
    )
    return {} if confidence is None else {page.item: page for page in confidence.pages}


def _list_confidence(
    assignment_state: AssignmentState, opened: Opener
) -> ListConfidenceView | None:
    state = assignment_state.state
    if not isinstance(state, Finished) or state.confidence is None:
        return None
    confidence, listed = state.confidence, set(state.result.ranking)
    near = [
        _page(assignment_state, page.item, confidence=page)
        for page in confidence.pages
        if page.item not in listed and page.in_top >= _NEAR
    ]
    return ListConfidenceView(confidence, _linked(near[:_MOST_NEAR], opened))


def _listed(assignment_state: AssignmentState, numbers: Iterable[int]) -> Sequence[Listed]:
    return [_page(assignment_state, number) for number in numbers]


def _page(
    assignment_state: AssignmentState,
    number: int,
    *,
    tied: str = "",
    grade: str | None = None,
    confidence: PageConfidence | None = None,
) -> Listed:
    head = assignment_state.documents[number]
    return Listed(number, head.title or head.name, head.url, tied, grade, confidence)


def _linked(pages: Sequence[Listed], opened: Opener) -> Sequence[Listed]:
    """Return the pages with their links."""
    found = [(page, opened(page.id)) for page in pages]
    return [replace(page, source=link.source, light=link.light) for page, link in found]

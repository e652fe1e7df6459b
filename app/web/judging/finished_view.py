"""View of a finished session, for the person who judged it."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import UNJUDGEABLE, Graded, GradePlan
from topkapi.app.domain.lists.session import ListAnswer, ListsCompared
from topkapi.app.domain.pairs.confidence import PageConfidence
from topkapi.app.domain.pairs.session import Finished, Result
from topkapi.app.services.judging.live_sessions import QueryHead
from topkapi.app.services.judging.session_summary import SessionSummary
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.web.judging.question_view import progress_view
from topkapi.app.web.judging.views import FinishedView, ListConfidenceView, Listed
from topkapi.app.web.pages.open_pages import Opener

_NEAR = 0.1  # least top-k probability of a page outside the list that is still shown
_MOST_NEAR = 10
_CERTAIN = 0.995  # is shown as 100 %
_Parts = tuple[Sequence[Listed], Sequence[Listed], Sequence[Listed], int]


def tied_pages(
    groups: Iterable[Sequence[int]], pairs: Iterable[tuple[int, int]]
) -> dict[int, set[int]]:
    """Return the pages that each page is tied with: in its tie group, or by an answer."""
    tied: dict[int, set[int]] = {}
    grouped = (pair for group in groups for pair in combinations(group, 2))
    for one, other in (*grouped, *pairs):
        tied.setdefault(one, set()).add(other)
        tied.setdefault(other, set()).add(one)
    return tied


def tie_text(tied: Collection[int], ranking: Sequence[int]) -> str:
    """Return what is shown beside a page that is tied with the pages ``tied``.

    >>> tie_text({30, 20, 40}, [10, 20, 30, 50])
    'tied with ranks 2 and 3, and 1 page outside the list'
    """
    ranks = [rank for rank, page in enumerate(ranking, 1) if page in tied]
    outside = len(tied) - len(ranks)
    parts = []
    if ranks:
        parts.append(f"{'rank' if len(ranks) == 1 else 'ranks'} {_enumerated(ranks)}")
    if outside:
        parts.append(f"{outside} {'page' if outside == 1 else 'pages'} outside the list")
    return f"tied with {', and '.join(parts)}" if parts else ""


def _enumerated(ranks: Sequence[int]) -> str:
    """Return ranks in words, runs of three or more as ranges.

    >>> _enumerated([1, 2, 3, 4, 6])
    '1 to 4 and 6'
    """
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][-1] + 1:
            runs[-1].append(rank)
        else:
            runs.append([rank])
    words = [
        word
        for run in runs
        for word in ([f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(each) for each in run])
    ]
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


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
        together=bool(assignment_state.plan.get("together")),
        waits=assignment_state.waits,
        progress=progress_view(assignment_state),
        adjudicates=assignment_state.tool is Tool.PAIRS and "pairs" in assignment_state.plan,
    )


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
    """Return the confidence of each page by number, without what a list always contains.

    It is empty if the sorter reports none.
    """
    state = assignment_state.state
    if not isinstance(state, Finished) or state.confidence is None:
        return {}
    last = len(state.result.ranking)
    return {
        page.item: page
        for page in state.confidence.pages
        if page.in_top < _CERTAIN or (page.low, page.high) != (1, last)
    }


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
        counts=[(answer.label, counts[answer]) for answer in ListAnswer],
        same=counts[ListAnswer.SAME],
    )

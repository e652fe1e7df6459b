"""From a finished session to the page that shows it to the person who judged."""

from collections.abc import Iterable, Sequence

from app.domain.grades.session import UNJUDGEABLE, Graded, GradePlan
from app.domain.pairs.confidence import PageConfidence
from app.domain.pairs.session import Finished, Result
from app.services.judging.labeling import Standing
from app.services.judging.session_summary import Summary
from app.web.judging.views import FinishedView, Listed, SureView

_NEAR = 0.1  # the chance of the top k from which a page outside the list is named
_MOST_NEAR = 10


def finished_view(standing: Standing, summary: Summary) -> FinishedView:
    """The result of a finished session: the top list, or the grades from best to worst."""
    ranking, bad, unjudgeable, others = _parts(standing)
    return FinishedView(
        assignment_id=standing.assignment_id,
        position=standing.position,
        tool=standing.tool,
        query=standing.query,
        summary=summary,
        ranking=ranking,
        bad=bad,
        unjudgeable=unjudgeable,
        others=others,
        sure=_sure(standing),
    )


_Parts = tuple[Sequence[Listed], Sequence[Listed], Sequence[Listed], int]


def _parts(standing: Standing) -> _Parts:
    if isinstance(standing.state, Finished):
        result = standing.state.result
        removed = (_listed(standing, result.bad), _listed(standing, result.unjudgeable))
        return _ranking(standing, result), *removed, len(result.rest)
    assert isinstance(standing.state, Graded)
    grades = GradePlan.from_json(standing.plan).grades
    given = [each for each in standing.state.grades if each.grade != UNJUDGEABLE]
    given.sort(key=lambda each: -grades.index(each.grade))
    ranking = [_page(standing, each.document, grade=each.grade) for each in given]
    broken = [each.document for each in standing.state.grades if each.grade == UNJUDGEABLE]
    return ranking, (), _listed(standing, broken), 0


def _ranking(standing: Standing, result: Result) -> Sequence[Listed]:
    tied = {number: len(group) - 1 for group in result.groups for number in group}
    sure = _confidence(standing)
    return [
        _page(standing, number, tied=tied.get(number, 0), sure=sure.get(number))
        for number in result.ranking
    ]


def _confidence(standing: Standing) -> dict[int, PageConfidence]:
    """How sure the place of each page is, where the sorter has said so."""
    told = standing.state.confidence if isinstance(standing.state, Finished) else None
    return {} if told is None else {page.item: page for page in told.pages}


def _sure(standing: Standing) -> SureView | None:
    if not isinstance(standing.state, Finished) or standing.state.confidence is None:
        return None
    told, listed = standing.state.confidence, set(standing.state.result.ranking)
    near = [
        _page(standing, page.item, sure=page)
        for page in told.pages
        if page.item not in listed and page.in_top >= _NEAR
    ]
    return SureView(round(100 * told.quality), round(100 * told.error_rate), near[:_MOST_NEAR])


def _listed(standing: Standing, numbers: Iterable[int]) -> Sequence[Listed]:
    return [_page(standing, number) for number in numbers]


def _page(
    standing: Standing,
    number: int,
    *,
    tied: int = 0,
    grade: str | None = None,
    sure: PageConfidence | None = None,
) -> Listed:
    head = standing.documents[number]
    return Listed(head.title or head.name, head.url, tied, grade, sure)

"""From where an assignment stands to what the API sends."""

from collections.abc import Iterable, Mapping

from sqlalchemy.orm import Session

from app.domain.enums import Tool
from app.domain.grades.session import UNJUDGEABLE, AskingGrade, Graded, GradePlan
from app.domain.lists.plan import ListPlan, ShownList
from app.domain.lists.session import AskingLists, Compared, ListAnswer
from app.domain.pairs.confidence import Confidence
from app.domain.pairs.plan import Plan
from app.domain.pairs.session import Asking, Finished
from app.services.judging.labeling import Standing
from app.services.judging.tool_adapters import shown_in
from app.services.pages.texts import PageTexts
from app.web.judging.api_models import (
    AssignmentOut,
    ComparisonOut,
    ConfidenceOut,
    DocumentOut,
    GradeQuestion,
    GradeResult,
    ListOut,
    ListQuestion,
    ListResult,
    PageConfidenceOut,
    PairQuestion,
    PairResult,
    ProgressOut,
    QueryOut,
    StudyName,
)


def assignment_out(session: Session, texts: PageTexts, standing: Standing) -> AssignmentOut:
    """The state with the texts of the pages it asks about."""
    query, progress = standing.query, standing.progress
    return AssignmentOut(
        id=standing.assignment_id,
        state="finished" if standing.finished else "asking",
        tool=standing.tool,
        study=StudyName(slug=query.study_slug, name=query.study_name),
        query=QueryOut(
            id=query.name,
            text=query.text,
            description=query.description,
            narrative=query.narrative,
        ),
        position=standing.position,
        question=_question(session, texts, standing),
        answers=answers_of(standing),
        progress=ProgressOut(
            answered=progress.answered,
            expected_left=progress.expected_left,
            low=progress.low,
            high=progress.high,
            quality=progress.quality,
        ),
        result=_result(standing),
        can_undo=standing.can_undo,
        can_redo=standing.can_redo,
        active_ms=standing.active_ms,
    )


def answers_of(standing: Standing) -> list[str]:
    """The answers the study offers for this tool."""
    if standing.tool is Tool.GRADES:
        return [*GradePlan.from_json(standing.plan).grades, UNJUDGEABLE]
    if standing.tool is Tool.LISTS:
        return [answer.value for answer in ListAnswer]
    return [answer.value for answer in Plan.from_json(standing.plan).answers]


def _question(
    session: Session, texts: PageTexts, standing: Standing
) -> PairQuestion | GradeQuestion | ListQuestion | None:
    heads = [standing.documents[number] for number in shown_in(standing.state)]
    found = texts.of(session, [head.content_hash for head in heads])
    shown = [
        DocumentOut(id=head.name, title=head.title, url=head.url, text=found[head.content_hash])
        for head in heads
    ]
    if isinstance(standing.state, Asking):
        return PairQuestion(left=shown[0], right=shown[1])
    if isinstance(standing.state, AskingLists):
        by_number = dict(zip(shown_in(standing.state), shown, strict=True))
        left, right = (
            _list(each, by_number) for each in (standing.state.left, standing.state.right)
        )
        return ListQuestion(left=left, right=right)
    return GradeQuestion(document=shown[0]) if isinstance(standing.state, AskingGrade) else None


def _list(shown: ShownList, documents: Mapping[int, DocumentOut]) -> ListOut:
    return ListOut(id=shown.system, documents=[documents[number] for number in shown.documents])


def _list_result(standing: Standing, compared: Compared) -> ListResult:
    systems = {each.id: each.system for each in ListPlan.from_json(standing.plan).lists}
    return ListResult(
        comparisons=[
            ComparisonOut(left=systems[each.left], right=systems[each.right], answer=each.answer)
            for each in compared.answers
        ]
    )


def _result(standing: Standing) -> PairResult | GradeResult | ListResult | None:
    if not standing.finished:
        return None
    names = {number: head.name for number, head in standing.documents.items()}
    if isinstance(standing.state, Finished):
        return _pair_result(standing.state, names)
    if isinstance(standing.state, Compared):
        return _list_result(standing, standing.state)
    if isinstance(standing.state, Graded):
        given = standing.state.grades
        return GradeResult(grades={names[each.document]: each.grade for each in given})
    return None


def _pair_result(state: Finished, names: Mapping[int, str]) -> PairResult:
    result, sure = state.result, state.confidence

    def named(numbers: Iterable[int]) -> list[str]:
        return [names[number] for number in numbers]

    return PairResult(
        ranking=named(result.ranking),
        groups=[named(group) for group in result.groups],
        rest=named(result.rest),
        bad=named(result.bad),
        unjudgeable=named(result.unjudgeable),
        confidence=None if sure is None else _confidence(sure, names),
    )


def _confidence(sure: Confidence, names: Mapping[int, str]) -> ConfidenceOut:
    return ConfidenceOut(
        quality=sure.quality,
        error_rate=sure.error_rate,
        pages=[
            PageConfidenceOut(
                document=names[page.item], in_top=page.in_top, low=page.low, high=page.high
            )
            for page in sure.pages
        ],
    )

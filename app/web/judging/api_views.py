"""Conversion of the state of an assignment to the response bodies of the judging API."""

from collections.abc import Iterable, Mapping
from typing import Literal

from sqlalchemy.orm import Session
from starlette.requests import Request

from topkapi.app.db.engine import Sessions
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.grades.session import UNJUDGEABLE, AskingGrade, Graded, GradePlan
from topkapi.app.domain.lists.plan import ListPlan, ShownList, hidden_name
from topkapi.app.domain.lists.session import AskingLists, ListAnswer, ListComparison, ListsCompared
from topkapi.app.domain.pairs.confidence import ListConfidence
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.session import Asking, Finished
from topkapi.app.services.heads import StudyName
from topkapi.app.services.importing.records.types import QueryRecord
from topkapi.app.services.judging import labeling
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.states import AssignmentState
from topkapi.app.services.pages.shown import PageTexts
from topkapi.app.web.access.deps import SAFE_METHODS
from topkapi.app.web.judging.api_models import (
    AssignmentOut,
    ConfidenceOut,
    DocumentOut,
    GradeQuestion,
    GradeResult,
    ListOut,
    ListResult,
    PageConfidenceOut,
    PairResult,
    ProgressOut,
    Sides,
)


def assignment_state(
    request: Request, session: Session, user_id: int, assignment_id: int
) -> AssignmentState:
    """Return the state of a person's assignment.

    A member of a team gets a question when they open the page. A request that reads stores it in a
    short transaction of its own.
    """
    live: LiveSessions = request.app.state.live
    state = labeling.assignment_state(session, live, assignment_id=assignment_id, user_id=user_id)
    if state.is_stored:
        return state
    if request.method not in SAFE_METHODS:
        return labeling.offer(session, live, assignment_id=assignment_id, user_id=user_id)
    sessions: Sessions = request.app.state.sessions
    with sessions.write.begin() as writing:
        return labeling.offer(writing, live, assignment_id=assignment_id, user_id=user_id)


def assignment_out(
    session: Session, texts: PageTexts, assignment_state: AssignmentState
) -> AssignmentOut:
    """Return the state with the texts of the pages in the open question."""
    query = assignment_state.query
    return AssignmentOut(
        id=assignment_state.assignment_id,
        state=_state(assignment_state),
        tool=assignment_state.tool,
        study=StudyName(slug=query.study_slug, name=query.study_name),
        query=QueryRecord(
            id=query.name,
            text=query.text,
            description=query.description,
            narrative=query.narrative,
        ),
        position=assignment_state.position,
        question=_question(session, texts, assignment_state),
        answers=answers_of(assignment_state),
        progress=ProgressOut.model_validate(assignment_state.progress),
        result=_result(assignment_state),
        can_undo=assignment_state.can_undo,
        can_redo=assignment_state.can_redo,
        active_ms=assignment_state.active_ms,
    )


def _state(assignment_state: AssignmentState) -> Literal["asking", "waits_for_team", "finished"]:
    if assignment_state.waits:
        return "waits_for_team"
    return "finished" if assignment_state.finished else "asking"


def answers_of(assignment_state: AssignmentState) -> list[str]:
    """Return the answers that the study allows for this tool."""
    if assignment_state.tool is Tool.GRADES:
        return [*GradePlan.from_json(assignment_state.plan).grades, UNJUDGEABLE]
    if assignment_state.tool is Tool.LISTS:
        return [answer.value for answer in ListAnswer]
    return [answer.value for answer in Plan.from_json(assignment_state.plan).answers]


def _question(
    session: Session, texts: PageTexts, assignment_state: AssignmentState
) -> Sides[DocumentOut] | GradeQuestion | Sides[ListOut] | None:
    heads = [assignment_state.documents[number] for number in assignment_state.state.shown]
    found = texts.of(session, [head.content_hash for head in heads])
    shown = [
        DocumentOut(id=head.name, title=head.title, url=head.url, text=found[head.content_hash])
        for head in heads
    ]
    if isinstance(assignment_state.state, Asking):
        return Sides[DocumentOut](left=shown[0], right=shown[1])
    if isinstance(assignment_state.state, AskingLists):
        by_number = dict(zip(assignment_state.state.shown, shown, strict=True))
        left, right = (
            _list(assignment_state, each, by_number)
            for each in (assignment_state.state.left, assignment_state.state.right)
        )
        return Sides[ListOut](left=left, right=right)
    return (
        GradeQuestion(document=shown[0])
        if isinstance(assignment_state.state, AskingGrade)
        else None
    )


def _list(
    state: AssignmentState, shown: ShownList, documents: Mapping[int, DocumentOut]
) -> ListOut:
    name = hidden_name(state.plan["seed"], shown.system)
    return ListOut(id=name, documents=[documents[number] for number in shown.documents])


def _list_result(assignment_state: AssignmentState, compared: ListsCompared) -> ListResult:
    plan = ListPlan.from_json(assignment_state.plan)
    names = {each.id: hidden_name(plan.seed, each.system) for each in plan.lists}
    return ListResult(
        comparisons=[
            ListComparison(names[each.left], names[each.right], each.answer)
            for each in compared.answers
        ]
    )


def _result(assignment_state: AssignmentState) -> PairResult | GradeResult | ListResult | None:
    if not assignment_state.finished or assignment_state.waits:
        return None
    names = {number: head.name for number, head in assignment_state.documents.items()}
    if isinstance(assignment_state.state, Finished):
        return _pair_result(assignment_state.state, names)
    if isinstance(assignment_state.state, ListsCompared):
        return _list_result(assignment_state, assignment_state.state)
    if isinstance(assignment_state.state, Graded):
        graded = assignment_state.state.grades
        return GradeResult(grades={names[each.document]: each.grade for each in graded})
    return None


def _pair_result(state: Finished, names: Mapping[int, str]) -> PairResult:
    result, confidence = state.result, state.confidence

    def named(numbers: Iterable[int]) -> list[str]:
        return [names[number] for number in numbers]

    return PairResult(
        ranking=named(result.ranking),
        groups=[named(group) for group in result.groups],
        rest=named(result.rest),
        bad=named(result.bad),
        unjudgeable=named(result.unjudgeable),
        confidence=None if confidence is None else _confidence(confidence, names),
    )


def _confidence(confidence: ListConfidence, names: Mapping[int, str]) -> ConfidenceOut:
    return ConfidenceOut(
        quality=confidence.quality,
        error_rate=confidence.error_rate,
        kappa_ndcg=confidence.kappa_ndcg,
        overlap=confidence.overlap,
        pages=[
            PageConfidenceOut(
                document=names[page.item], in_top=page.in_top, low=page.low, high=page.high
            )
            for page in confidence.pages
        ],
    )

"""Judging pages: the question, answers, prefetched questions, the timer, highlighted terms."""

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import User
from topkapi.app.domain.enums import TimerKind, Tool
from topkapi.app.domain.errors import AnswerNotAllowed, Invalid, LogRefusal, Withdrawn
from topkapi.app.domain.grades.session import GradePlan
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.sessions import answer_name
from topkapi.app.domain.shortcuts import keys_of
from topkapi.app.domain.study import Grade
from topkapi.app.services.judging import highlights, labeling, timing
from topkapi.app.services.judging.context import judging_context
from topkapi.app.services.judging.history import undone_answer
from topkapi.app.services.judging.labeling import Submission
from topkapi.app.services.judging.live_sessions import LiveSessions
from topkapi.app.services.judging.session_summary import summary_of
from topkapi.app.services.judging.states import AssignmentState, PossibleState
from topkapi.app.services.pages.shown import snippet_texts
from topkapi.app.web.access.admission import admit
from topkapi.app.web.access.bodies import DEFAULT, limit_body
from topkapi.app.web.access.deps import (
    ClaimantToken,
    CurrentUser,
    RowId,
    SessionDep,
    current_person,
    in_transaction,
)
from topkapi.app.web.common import htmx
from topkapi.app.web.common.formats import to_html
from topkapi.app.web.common.received import StorableLine, read_form
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import PersonView
from topkapi.app.web.judging.api_views import assignment_state
from topkapi.app.web.judging.finished_view import compared_view, finished_view
from topkapi.app.web.judging.question_view import QuestionView, progress_view, question_view
from topkapi.app.web.judging.views import (
    EntryForm,
    FragmentView,
    GuidelinesView,
    Milliseconds,
    NextView,
    PossibleQuestion,
    TermsForm,
    TermsView,
    UndoneView,
    WorkView,
)
from topkapi.app.web.pages.open_pages import display_preferences_of, opener_of

router = APIRouter(prefix="/assignments/{assignment_id}", include_in_schema=False)


@router.get("")
def get_work(
    request: Request, session: SessionDep, user: CurrentUser, assignment_id: RowId
) -> Response:
    """Show the open question, or the result."""
    state = assignment_state(request, session, user.id, assignment_id)
    return _show(request, session, user, state)


@router.post("/judgments")
@limit_body(DEFAULT)
async def post_entry(request: Request, sent: ClaimantToken, assignment_id: RowId) -> Response:
    """Append an answer, undo or redo to the log and show the next question.

    The request is idempotent. A response that needs no further query is rendered after the commit,
    so that the write lock is released early. The form is read here, because FastAPI would take
    several percent of the whole request for it.
    """
    form = await read_form(request, EntryForm)
    submission = form.to_submission(request.app.state.page_links)

    def work(session: Session) -> Response | AssignmentState:
        person = current_person(request, session, sent)
        return _enter(request, session, person, assignment_id, submission)

    live: LiveSessions = request.app.state.live
    person_id = await admit(request)
    before = labeling.anticipation(live, assignment_id, person_id, submission)
    done = await in_transaction(request, work, before=before)
    return _fragment(request, done) if isinstance(done, AssignmentState) else done


def _enter(
    request: Request,
    session: Session,
    user: PersonView,
    assignment_id: int,
    submission: Submission,
) -> Response | AssignmentState:
    live: LiveSessions = request.app.state.live
    try:
        after = labeling.submit(
            session,
            live,
            assignment_id=assignment_id,
            user_id=user.id,
            submission=submission,
            look_ahead=htmx.wants_fragment(request),
        )
    except (AnswerNotAllowed, Withdrawn):
        raise
    except LogRefusal as refusal:
        now_open = assignment_state(request, session, user.id, assignment_id)
        return _show(request, session, user, now_open, stale=refusal)
    if htmx.wants_fragment(request):
        needs_session = after.tool is Tool.LISTS or after.can_redo
        return _show(request, session, user, after) if needs_session else after
    return RedirectResponse(_address(request, "get_work", assignment_id), status_code=303)


@router.get("/next")
def get_next(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    position: Annotated[int, Query(ge=0, le=2**31 - 1)],
    deep: bool = False,
) -> Response:
    """Return the possible next questions, with ``deep`` also those after them, to prefetch.

    204 says that there is nothing to prefetch.
    """
    states = labeling.peek(
        session,
        request.app.state.live,
        assignment_id=assignment_id,
        user_id=user.id,
        position=position,
        deep=deep,
    )
    if not states:
        return Response(status_code=204)
    view = NextView(_possible_questions(request, session, states))
    return render(request, "judging/_next.html", view)


@router.get("/progress")
def get_team_progress(
    request: Request, session: SessionDep, user: CurrentUser, assignment_id: RowId
) -> Response:
    """Return the progress bar, for a member of a team who reads while others answer."""
    state = labeling.assignment_state(
        session, request.app.state.live, assignment_id=assignment_id, user_id=user.id
    )
    return render(request, "judging/_team_progress.html", progress_view(state))


@router.post("/timer")
def post_timer(
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    kind: Annotated[TimerKind, Form()],
    active_ms: Annotated[Milliseconds, Form()] = 0,
    reason: Annotated[StorableLine | None, Form()] = None,
) -> Response:
    """Record an event of the timer."""
    report = timing.TimerReport(kind, active_ms, reason or None)
    timing.record_event(session, assignment_id=assignment_id, user_id=user.id, report=report)
    return Response(status_code=204)


@router.post("/terms")
def post_terms(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    form: Annotated[TermsForm, Form()],
) -> Response:
    """Add or remove a highlighted term."""
    query = assignment_state(request, session, user.id, assignment_id).query
    whose: dict[str, Any] = {"user_id": user.id, "query_id": query.id, "query": query.text}
    error = None
    try:
        if form.drop is not None:
            highlights.remove_term(session, **whose, term=form.drop)
        else:
            highlights.add_term(session, **whose, term=form.term)
    except Invalid as refusal:
        error = str(refusal)
    if not htmx.wants_fragment(request):
        return RedirectResponse(_address(request, "get_work", assignment_id), status_code=303)
    terms = highlights.terms_for(session, **whose)
    key = keys_of(user.keys)["highlight"]
    return render(request, "judging/_terms.html", TermsView(assignment_id, terms, key, error))


@router.get("/guidelines")
def get_guidelines(
    request: Request, session: SessionDep, user: CurrentUser, assignment_id: RowId
) -> Response:
    """Show the guidelines of the study of this assignment."""
    state = assignment_state(request, session, user.id, assignment_id)
    context = judging_context(session, state, user_id=user.id)
    view = GuidelinesView(assignment_id, state.query.study_name, to_html(context.guidelines))
    fragment = "judging/_guidelines.html"
    return render(request, "judging/guidelines.html", view, fragment=fragment)


def _question(
    request: Request, session: Session | None, assignment_state: AssignmentState
) -> QuestionView:
    """Return the view of a question; only lists need the ``session``, for their snippets."""
    texts = {} if session is None else snippet_texts(session, assignment_state)
    return question_view(
        assignment_state, request.app.state.page_links, display_preferences_of(request), texts
    )


def _possible_questions(
    request: Request, session: Session | None, ahead: Sequence[PossibleState]
) -> Sequence[PossibleQuestion]:
    """Return the distinct possible next questions, each with all the answers that lead to it."""
    answers: list[list[str]] = []
    states: list[AssignmentState] = []
    for leading, after in ahead:
        if after not in states:
            states.append(after)
            answers.append([])
        answers[states.index(after)].extend(leading)
    return [
        PossibleQuestion(
            leading,
            _question(request, session, after),
            _possible_questions(request, session, after.ahead),
        )
        for leading, after in zip(answers, states, strict=True)
    ]


def _show(
    request: Request,
    session: Session,
    user: User | PersonView,
    assignment_state: AssignmentState,
    *,
    stale: LogRefusal | None = None,
) -> Response:
    """Show the question as a page or a fragment, or the result as a page."""
    status = 409 if stale else 200
    if htmx.wants_fragment(request):
        return _fragment(request, assignment_state, session, stale)
    if assignment_state.finished:
        summary = summary_of(session, assignment_state, user_id=user.id)
        if assignment_state.tool is Tool.LISTS:
            compared = compared_view(assignment_state, summary)
            return render(request, "judging/compared.html", compared, status=status)
        opened = opener_of(request, assignment_state)
        page = finished_view(assignment_state, summary, opened)
        return render(request, "judging/finished.html", page, status=status)
    view = _work_view(request, session, user, assignment_state, stale)
    return render(request, f"judging/{assignment_state.tool}.html", view, status=status)


def _fragment(
    request: Request,
    assignment_state: AssignmentState,
    session: Session | None = None,
    stale: LogRefusal | None = None,
) -> Response:
    """Return the parts of the page that change, and the possible next questions if known."""
    question = _question(request, session, assignment_state)
    possible = _possible_questions(request, session, assignment_state.ahead)
    undone = None if session is None else _undone(session, assignment_state)
    view = FragmentView(question, stale, undone, possible)
    return render(request, "judging/_question.html", view, status=409 if stale else 200)


def _work_view(
    request: Request,
    session: Session,
    user: User | PersonView,
    assignment_state: AssignmentState,
    stale: LogRefusal | None,
) -> WorkView:
    context = judging_context(session, assignment_state, user_id=user.id)
    by_pairs = assignment_state.tool is Tool.PAIRS
    return WorkView(
        question=_question(request, session, assignment_state),
        query=assignment_state.query,
        context=context,
        terms=TermsView(
            assignment_state.assignment_id, assignment_state.terms, context.keys["highlight"]
        ),
        reading=display_preferences_of(request),
        user_id=user.id,
        offered=Plan.from_json(assignment_state.plan).answers if by_pairs else (),
        grades=_grades(assignment_state, context.settings.grades)
        if assignment_state.tool is Tool.GRADES
        else (),
        guidelines=to_html(context.guidelines),
        stale=stale,
        undone=_undone(session, assignment_state),
    )


def _undone(session: Session, assignment_state: AssignmentState) -> UndoneView | None:
    """Return the undone answer to the open question, if there is one."""
    if not assignment_state.can_redo or assignment_state.finished:
        return None
    found = undone_answer(session, assignment_state.assignment_id)
    if found is None:
        return None
    return UndoneView(answer_name(assignment_state.tool, found.answer), found.note)


def _grades(assignment_state: AssignmentState, described: Sequence[Grade]) -> Sequence[Grade]:
    """Return the grades of the plan, which are fixed, with the study's current descriptions."""
    descriptions = {grade.name: grade for grade in described}
    names = GradePlan.from_json(assignment_state.plan).grades
    return [descriptions.get(name, Grade(name)) for name in names]


def _address(request: Request, name: str, assignment_id: int) -> str:
    return str(request.app.url_path_for(name, assignment_id=assignment_id))

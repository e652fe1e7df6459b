"""Judging in the browser: the question, answers, what may come next, the clock, the chips."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from app.db.models import User
from app.domain.errors import AnswerNotAllowed, Invalid, LogRefusal, Withdrawn
from app.domain.grading import GradePlan
from app.domain.plan import Plan
from app.domain.study import Grade
from app.domain.words import Tool
from app.services import highlights, labeling, timing
from app.services.desk import desk_of
from app.services.finishing import summary_of
from app.services.labeling import Prospect, Standing
from app.services.live import LiveSessions
from app.services.snippets import snippet_texts
from app.web import htmx
from app.web.deps import (
    ClaimantToken,
    CurrentUser,
    RowId,
    SessionDep,
    current_person,
    in_transaction,
)
from app.web.judging import QuestionView, question_view
from app.web.labeling_forms import EntryForm, TermsForm, TimerForm
from app.web.labeling_views import (
    FragmentView,
    GuidelinesView,
    NextView,
    ProspectView,
    Refused,
    TermsView,
    WorkView,
)
from app.web.list_results import compared_view
from app.web.markdown import to_html
from app.web.pages import render
from app.web.reading import reading_of
from app.web.results import finished_view
from app.web.views import PersonView

router = APIRouter(prefix="/assignments/{assignment_id}", include_in_schema=False)
_PAGES = {
    Tool.PAIRS: "labeling/pairs.html",
    Tool.GRADES: "labeling/grades.html",
    Tool.LISTS: "labeling/lists.html",
}


@router.get("")
def get_work(
    request: Request, session: SessionDep, user: CurrentUser, assignment_id: RowId
) -> Response:
    """The open question, or the result."""
    return _show(request, session, user, _standing(request, session, user, assignment_id))


@router.post("/judgments")
async def post_entry(
    request: Request,
    sent: ClaimantToken,
    assignment_id: RowId,
    form: Annotated[EntryForm, Form()],
) -> Response:
    """Take an answer, an undo or a redo, and show what is asked then; repeated, it counts once.

    What needs nothing more of the database is drawn when the entry is committed, so that others can
    write meanwhile.
    """

    def work(session: Session) -> Response | Standing:
        person = current_person(request, session, sent)
        return _enter(request, session, person, assignment_id, form)

    done = await in_transaction(request, work)
    return _fragment(request, done) if isinstance(done, Standing) else done


def _enter(
    request: Request, session: Session, user: PersonView, assignment_id: int, form: EntryForm
) -> Response | Standing:
    live: LiveSessions = request.app.state.live
    try:
        after = labeling.submit(
            session,
            live,
            assignment_id=assignment_id,
            user_id=user.id,
            submission=form.to_submission(),
            look_ahead=htmx.wants_fragment(request),
        )
    except (AnswerNotAllowed, Withdrawn):
        raise
    except LogRefusal as refusal:
        now_open = _standing(request, session, user, assignment_id)
        return _show(request, session, user, now_open, stale=Refused(refusal.code, str(refusal)))
    if htmx.wants_fragment(request):
        needs_texts = after.tool is Tool.LISTS
        return _show(request, session, user, after) if needs_texts else after
    return RedirectResponse(_address(request, "get_work", assignment_id), status_code=303)


@router.get("/next")
def get_next(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    position: Annotated[int, Query(ge=0, le=2**31 - 1)],
) -> Response:
    """The questions that may come after this one, for the browser to make ready."""
    found = labeling.peek(
        session,
        request.app.state.live,
        assignment_id=assignment_id,
        user_id=user.id,
        position=position,
    )
    return render(request, "labeling/_next.html", NextView(_prospects(request, session, found)))


@router.post("/timer")
def post_timer(
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    form: Annotated[TimerForm, Form()],
) -> Response:
    """Note what happened to the clock."""
    timing.record_event(
        session, assignment_id=assignment_id, user_id=user.id, report=form.to_report()
    )
    return Response(status_code=204)


@router.post("/terms")
def post_terms(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    assignment_id: RowId,
    form: Annotated[TermsForm, Form()],
) -> Response:
    """Highlight one more term, or one less."""
    query = _standing(request, session, user, assignment_id).query
    error = None
    try:
        if form.drop is not None:
            highlights.remove_term(
                session, user_id=user.id, query_id=query.id, query=query.text, term=form.drop
            )
        else:
            highlights.add_term(
                session, user_id=user.id, query_id=query.id, query=query.text, term=form.term
            )
    except Invalid as refusal:
        error = str(refusal)
    if not htmx.wants_fragment(request):
        return RedirectResponse(_address(request, "get_work", assignment_id), status_code=303)
    terms = highlights.terms_for(session, user_id=user.id, query_id=query.id, query=query.text)
    return render(request, "labeling/_terms.html", TermsView(assignment_id, terms, error))


@router.get("/guidelines")
def get_guidelines(
    request: Request, session: SessionDep, user: CurrentUser, assignment_id: RowId
) -> Response:
    """The guidelines of the study this assignment belongs to."""
    standing = _standing(request, session, user, assignment_id)
    desk = desk_of(session, standing, user_id=user.id)
    view = GuidelinesView(assignment_id, standing.query.study_name, to_html(desk.guidelines))
    fragment = "labeling/_guidelines.html"
    return render(request, "labeling/guidelines.html", view, fragment=fragment)


def _standing(
    request: Request, session: Session, user: User | PersonView, assignment_id: int
) -> Standing:
    live: LiveSessions = request.app.state.live
    return labeling.standing(session, live, assignment_id=assignment_id, user_id=user.id)


def _question(request: Request, session: Session | None, standing: Standing) -> QuestionView:
    """The view of a question; only one about lists needs the ``session``, for their texts."""
    texts = {} if session is None else snippet_texts(session, standing)
    return question_view(standing, request.app.state.page_links, reading_of(request), texts)


def _prospects(
    request: Request, session: Session | None, ahead: Sequence[Prospect]
) -> Sequence[ProspectView]:
    """The questions that may come, each once, with all the answers that lead to it."""
    answers: list[list[str]] = []
    states: list[Standing] = []
    for words, after in ahead:
        if after not in states:
            states.append(after)
            answers.append([])
        answers[states.index(after)].extend(words)
    return [
        (words, _question(request, session, after))
        for words, after in zip(answers, states, strict=True)
    ]


def _show(
    request: Request,
    session: Session,
    user: User | PersonView,
    standing: Standing,
    *,
    stale: Refused | None = None,
) -> Response:
    """The question as a page or as a fragment; the result as a page."""
    status = 409 if stale else 200
    if htmx.wants_fragment(request):
        return _fragment(request, standing, session, stale)
    if standing.finished:
        summary = summary_of(session, standing, user_id=user.id)
        if standing.tool is Tool.LISTS:
            compared = compared_view(standing, summary)
            return render(request, "labeling/compared.html", compared, status=status)
        page = finished_view(standing, summary)
        return render(request, "labeling/finished.html", page, status=status)
    view = _work_view(request, session, user, standing, stale)
    return render(request, _PAGES[standing.tool], view, status=status)


def _fragment(
    request: Request,
    standing: Standing,
    session: Session | None = None,
    stale: Refused | None = None,
) -> Response:
    """What changes on the page, and what may come next if the state says so."""
    question = _question(request, session, standing)
    view = FragmentView(question, stale, _prospects(request, session, standing.ahead))
    return render(request, "labeling/_question.html", view, status=409 if stale else 200)


def _work_view(
    request: Request,
    session: Session,
    user: User | PersonView,
    standing: Standing,
    stale: Refused | None,
) -> WorkView:
    desk = desk_of(session, standing, user_id=user.id)
    by_pairs = standing.tool is Tool.PAIRS
    return WorkView(
        question=_question(request, session, standing),
        query=standing.query,
        desk=desk,
        terms=TermsView(standing.assignment_id, standing.terms),
        reading=reading_of(request),
        user_id=user.id,
        offered=Plan.from_json(standing.plan).answers if by_pairs else (),
        grades=_grades(standing, desk.settings.grades) if standing.tool is Tool.GRADES else (),
        guidelines=to_html(desk.guidelines),
        stale=stale,
    )


def _grades(standing: Standing, described: Sequence[Grade]) -> Sequence[Grade]:
    """The grades of the plan, which never change, with the study's words for them."""
    words = {grade.name: grade for grade in described}
    names = GradePlan.from_json(standing.plan).grades
    return [words.get(name, Grade(name)) for name in names]


def _address(request: Request, name: str, assignment_id: int) -> str:
    return str(request.app.url_path_for(name, assignment_id=assignment_id))

"""Training pages: the steps of an assessor; settings, questions and people of a study."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import PracticeAnswer, PracticeItem, User
from topkapi.app.db.queries import training as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AppError
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.shortcuts import keys_of
from topkapi.app.domain.training.practice import allowed_answers
from topkapi.app.domain.training.rules import Step
from topkapi.app.services.judging.context import JudgingContext
from topkapi.app.services.judging.session_summary import completion_of
from topkapi.app.services.pages.shown import snippet_texts
from topkapi.app.services.studies import edit_study
from topkapi.app.services.training import practice, trainings
from topkapi.app.services.training.practice import practice_state
from topkapi.app.services.training.trainings import TrainingState
from topkapi.app.web.access.deps import CurrentUser, RowId, SessionDep, Slug
from topkapi.app.web.common.formats import to_html
from topkapi.app.web.common.refusals import try_change
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.judging.question_view import question_view
from topkapi.app.web.judging.views import TermsView
from topkapi.app.web.pages.open_pages import display_preferences_of
from topkapi.app.web.studies.views import (
    SentSettings,
    SettingsForm,
    form_of,
    settings_in,
    settings_in_parts,
)
from topkapi.app.web.studies.visit import AdminVisit, ReaderVisit, Visit
from topkapi.app.web.training.views import (
    GuidelinesStep,
    PracticeForm,
    PracticeView,
    QuestionForm,
    ResultView,
    StudyTrainingView,
    trainees_of,
)

router = APIRouter(include_in_schema=False)
_LAYOUT = "training/practice.html"


@router.get("/training/{slug}")
def get_training(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    slug: Slug,
    answered: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    again: bool = False,
) -> Response:
    """Show the open step; ``answered`` shows the feedback to a practice question."""
    study = trainings.study_in_training(session, slug, user.id)
    training = trainings.training_state(session, study, user.id)
    given = _given(session, training, user, answered)
    if given is not None:
        return _practice_page(request, session, user, training, *given)
    if training.step is Step.GUIDELINES:
        view = GuidelinesStep(training, to_html(study.guidelines))
        return render(request, "training/guidelines.html", view)
    is_new_try = training.record.failed > 0 and training.number == 1 and not again
    if training.step is not Step.PRACTICE or training.item_id is None or is_new_try:
        contact = trainings.contact_of(session, training)
        failed = training.step is Step.FAILED
        result = ResultView(
            training,
            trainings.missed_by(session, training),
            contact,
            to_html(study.guidelines),
            completion_of(session, user.id) if failed else None,
        )
        return render(request, "training/result.html", result)
    item = session.get_one(PracticeItem, training.item_id)
    return _practice_page(request, session, user, training, item, None)


@router.post("/training/{slug}/guidelines")
def post_training_guidelines(
    request: Request, session: SessionDep, user: CurrentUser, slug: Slug
) -> Response:
    """Confirm that the guidelines were read."""
    study = trainings.study_in_training(session, slug, user.id)
    trainings.confirm_guidelines(session, study, user.id)
    return _to_training(request, slug)


@router.post("/training/{slug}/answers")
def post_practice(
    request: Request,
    session: SessionDep,
    user: CurrentUser,
    slug: Slug,
    form: Annotated[PracticeForm, Form()],
) -> Response:
    """Record an answer and show the feedback; an answer that is sent twice counts once."""
    study = trainings.study_in_training(session, slug, user.id)
    trainings.answer_question(session, study, user.id, item_id=form.item, answer=form.answer)
    return _to_training(request, slug, f"?answered={form.item}")


def _to_training(request: Request, slug: str, rest: str = "") -> Response:
    address = str(request.app.url_path_for("get_training", slug=slug))
    return RedirectResponse(address + rest, status_code=303)


def _given(
    session: Session, training: TrainingState, user: User, item_id: int
) -> tuple[PracticeItem, PracticeAnswer] | None:
    """Return a practice question of the study with the person's latest answer to it."""
    item = session.get(PracticeItem, item_id) if item_id else None
    if item is None or item.study_id != training.study_id:
        return None
    stored = queries.last_answer_to(session, user.id, item.id)
    return None if stored is None else (item, stored)


def _practice_page(
    request: Request,
    session: Session,
    user: User,
    training: TrainingState,
    item: PracticeItem,
    given: PracticeAnswer | None,
) -> Response:
    items = [each.id for each in queries.items_for(session, training.study_id, user.id)]
    number = items.index(item.id) + 1 if item.id in items else len(items)
    done = number - (given is None)
    state = practice_state(session, training, item, number, done=done)
    reading = display_preferences_of(request)
    texts = snippet_texts(session, state)
    question = question_view(state, request.app.state.page_links, reading, texts)
    # A training may mix tools, so its progress has the verb of none.
    text = f"{done} of {training.of} questions answered, {training.of - done} left"
    progress = replace(question.progress, text=text, verb="answered")
    keys = keys_of(user.keys)
    view = PracticeView(
        question=replace(question, progress=progress),
        query=state.query,
        context=JudgingContext(training.guidelines, training.settings, number, len(items), 0, keys),
        terms=TermsView(0, state.terms, keys["highlight"]),
        reading=reading,
        user_id=user.id,
        offered=Plan.from_json(state.plan).answers if item.tool is Tool.PAIRS else (),
        grades=training.settings.grades if item.tool is Tool.GRADES else (),
        guidelines=to_html(training.guidelines),
        layout=_LAYOUT,
        item_id=item.id,
        attempt=training.record.attempt if given is None else given.attempt,
        tries=_tries(training),
        feedback=None if given is None else trainings.feedback(training, item, given),
    )
    return render(request, f"judging/{item.tool}.html", view)


def _tries(training: TrainingState) -> int | None:
    """Return the number of tries in all, None if none is counted."""
    if training.rules.needed is None:
        return None
    return training.rules.tries + training.record.granted


@router.get("/studies/{slug}/training")
def get_study_training(visit: ReaderVisit) -> Response:
    """Show the training settings, the practice questions and the people in training."""
    return _page(visit)


@router.post("/studies/{slug}/training")
def post_training_settings(visit: AdminVisit, form: SentSettings) -> Response:
    """Change the training settings; people who have begun work are not stopped."""
    with try_change(visit.session) as tried:
        edit_study.change_study(
            visit.session,
            visit.study,
            settings=settings_in(form, settings_in_parts("training")),
            seen=form.seen,
            actor_id=visit.user.id,
        )
    return _done(visit, tried.refusal, form=form)


@router.post("/studies/{slug}/training/questions")
def post_practice_question(visit: AdminVisit, form: Annotated[QuestionForm, Form()]) -> Response:
    """Add a practice question."""
    with try_change(visit.session) as tried:
        practice.add_question(
            visit.session, visit.study, form.to_question(), actor_id=visit.user.id
        )
    return _done(visit, tried.refusal, question=form)


@router.post("/studies/{slug}/training/questions/{item_id}/remove")
def post_remove_question(visit: AdminVisit, item_id: RowId) -> Response:
    """Remove a practice question."""
    practice.remove_question(visit.session, visit.study, item_id, actor_id=visit.user.id)
    return visit.to("get_study_training")


@router.post("/studies/{slug}/training/people/{user_id}/grant")
def post_grant_try(visit: AdminVisit, user_id: RowId) -> Response:
    """Grant another attempt to a person who has used them all."""
    with try_change(visit.session) as tried:
        trainings.grant_try(visit.session, visit.study, user_id, actor_id=visit.user.id)
    return _done(visit, tried.refusal)


def _done(
    visit: Visit,
    refusal: AppError | None,
    form: SettingsForm | None = None,
    question: QuestionForm | None = None,
) -> Response:
    """Show the page again, or what was typed and why it was refused."""
    if refusal:
        return _page(visit, form, question, refusal)
    return visit.to("get_study_training")


def _page(
    visit: Visit,
    form: SettingsForm | None = None,
    question: QuestionForm | None = None,
    refusal: AppError | None = None,
) -> Response:
    session, study, settings = visit.session, visit.study, visit.study.settings
    view = StudyTrainingView(
        head=visit.head("training"),
        form=form or form_of(study),
        settings=settings_in_parts("training"),
        questions=practice.questions_of(session, study),
        people=trainees_of(session, study),
        question_form=question or QuestionForm(tool=settings.tools[0]),
        answers={tool.value: allowed_answers(settings, tool) for tool in settings.tools},
        refusal=Refusal.of(refusal),
    )
    return visit.show("training/study.html", view, refusal)

"""The training of a study for administrators: settings, practice questions, people."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from topkapi.app.db.models import Study, User
from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.domain.training.practice import allowed_answers
from topkapi.app.services.studies import edit_study
from topkapi.app.services.training import practice, trainings
from topkapi.app.web.access.deps import AdminUser, ResearcherUser, RowId, SessionDep, StudyDep
from topkapi.app.web.common.errors import status_of
from topkapi.app.web.common.templates import render
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.forms import (
    SentSettings,
    SettingsForm,
    form_of,
    settings_in,
    settings_in_parts,
)
from topkapi.app.web.studies.pages import study_head
from topkapi.app.web.training.forms import QuestionForm
from topkapi.app.web.training.views import StudyTrainingView, trainees_of

router = APIRouter(prefix="/studies/{slug}/training", include_in_schema=False)


@router.get("")
def get_study_training(
    request: Request, session: SessionDep, user: ResearcherUser, study: StudyDep
) -> Response:
    """Show the training settings, the practice questions and the people in training."""
    return _page(request, session, user, study)


@router.post("")
def post_training_settings(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: SentSettings,
) -> Response:
    """Change the training settings; people who have begun work are not stopped."""

    def change() -> None:
        edit_study.change_study(
            session,
            study,
            settings=settings_in(form, settings_in_parts("training")),
            seen=form.seen,
            actor_id=user.id,
        )

    return _done(request, session, user, study, change, form=form)


@router.post("/questions")
def post_practice_question(
    request: Request,
    session: SessionDep,
    user: AdminUser,
    study: StudyDep,
    form: Annotated[QuestionForm, Form()],
) -> Response:
    """Add a practice question."""

    def add() -> None:
        practice.add_question(session, study, form.to_question(), actor_id=user.id)

    return _done(request, session, user, study, add, question=form)


@router.post("/questions/{item_id}/remove")
def post_remove_question(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep, item_id: RowId
) -> Response:
    """Remove a practice question."""
    practice.remove_question(session, study, item_id, actor_id=user.id)
    return _to_page(request, study.slug)


@router.post("/people/{user_id}/grant")
def post_grant_try(
    request: Request, session: SessionDep, user: AdminUser, study: StudyDep, user_id: RowId
) -> Response:
    """Grant another try to a person who has used all of them."""

    def grant() -> None:
        trainings.grant_try(session, study, user_id, actor_id=user.id)

    return _done(request, session, user, study, grant)


def _done(
    request: Request,
    session: Session,
    user: User,
    study: Study,
    act: Callable[[], None],
    *,
    form: SettingsForm | None = None,
    question: QuestionForm | None = None,
) -> Response:
    """Run ``act`` and show the page again, or what was typed and why it was refused."""
    try:
        with session.begin_nested():
            act()
    except (Invalid, Conflict) as refusal:
        return _page(request, session, user, study, form, question, refusal)
    return _to_page(request, study.slug)


def _to_page(request: Request, slug: str) -> Response:
    address = str(request.app.url_path_for("get_study_training", slug=slug))
    return RedirectResponse(address, status_code=303)


def _page(
    request: Request,
    session: Session,
    user: User,
    study: Study,
    form: SettingsForm | None = None,
    question: QuestionForm | None = None,
    refusal: AppError | None = None,
) -> Response:
    settings = study.settings
    view = StudyTrainingView(
        head=study_head(session, study, user, "training"),
        form=form or form_of(study),
        settings=settings_in_parts("training"),
        questions=practice.questions_of(session, study),
        people=trainees_of(session, study),
        question_form=question or QuestionForm(tool=settings.tools[0]),
        answers={tool.value: allowed_answers(settings, tool) for tool in settings.tools},
        refusal=None if refusal is None else Refusal.of(refusal),
    )
    status = 200 if refusal is None else status_of(refusal)
    return render(request, "training/study.html", view, status=status)

"""The training of a study for administrators: settings, practice questions, people."""

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.responses import Response

from topkapi.app.domain.errors import AppError, Conflict, Invalid
from topkapi.app.domain.training.practice import allowed_answers
from topkapi.app.services.studies import edit_study
from topkapi.app.services.training import practice, trainings
from topkapi.app.web.access.deps import RowId
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.studies.forms import (
    SentSettings,
    SettingsForm,
    form_of,
    settings_in,
    settings_in_parts,
)
from topkapi.app.web.studies.visit import AdminVisit, ReaderVisit, Visit
from topkapi.app.web.training.forms import QuestionForm
from topkapi.app.web.training.views import StudyTrainingView, trainees_of

router = APIRouter(prefix="/studies/{slug}/training", include_in_schema=False)


@router.get("")
def get_study_training(visit: ReaderVisit) -> Response:
    """Show the training settings, the practice questions and the people in training."""
    return _page(visit)


@router.post("")
def post_training_settings(visit: AdminVisit, form: SentSettings) -> Response:
    """Change the training settings; people who have begun work are not stopped."""

    def change() -> None:
        edit_study.change_study(
            visit.session,
            visit.study,
            settings=settings_in(form, settings_in_parts("training")),
            seen=form.seen,
            actor_id=visit.user.id,
        )

    return _done(visit, change, form=form)


@router.post("/questions")
def post_practice_question(visit: AdminVisit, form: Annotated[QuestionForm, Form()]) -> Response:
    """Add a practice question."""

    def add() -> None:
        practice.add_question(
            visit.session, visit.study, form.to_question(), actor_id=visit.user.id
        )

    return _done(visit, add, question=form)


@router.post("/questions/{item_id}/remove")
def post_remove_question(visit: AdminVisit, item_id: RowId) -> Response:
    """Remove a practice question."""
    practice.remove_question(visit.session, visit.study, item_id, actor_id=visit.user.id)
    return visit.to("get_study_training")


@router.post("/people/{user_id}/grant")
def post_grant_try(visit: AdminVisit, user_id: RowId) -> Response:
    """Grant another try to a person who has used all of them."""

    def grant() -> None:
        trainings.grant_try(visit.session, visit.study, user_id, actor_id=visit.user.id)

    return _done(visit, grant)


def _done(
    visit: Visit,
    act: Callable[[], None],
    form: SettingsForm | None = None,
    question: QuestionForm | None = None,
) -> Response:
    """Run ``act`` and show the page again, or what was typed and why it was refused."""
    try:
        with visit.session.begin_nested():
            act()
    except (Invalid, Conflict) as refusal:
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

"""API of training: an assessor's own training, and the training of a study."""

from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from sqlalchemy.orm import Session
from starlette.requests import Request

from topkapi.app.db.models import PracticeItem
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.domain.training.rules import Step
from topkapi.app.services.training import practice, trainings
from topkapi.app.services.training.practice import practice_state
from topkapi.app.services.training.trainings import Feedback, TrainingState
from topkapi.app.web.access.deps import (
    ApiAdmin,
    ApiResearcher,
    ApiUser,
    RowId,
    SessionDep,
    Slug,
    StudyDep,
)
from topkapi.app.web.common.received import Body
from topkapi.app.web.judging.api_models import DocumentOut, GradeQuestion, ListOut, Sides
from topkapi.app.web.judging.api_views import assignment_out
from topkapi.app.web.training.views import PracticeForm, trainees_of

router = APIRouter(prefix="/api/v1", tags=["training"])
Name = Annotated[str, Field(min_length=1, max_length=300)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, max_length=10_000)]


class PracticeOut(BaseModel):
    """The open practice question, in the shape of the question of an assignment."""

    item: int
    number: int
    of: int
    tool: Tool
    query: str
    description: str
    answers: list[str]
    question: Sides[DocumentOut] | GradeQuestion | Sides[ListOut] | None


class TrainingOut(BaseModel):
    """My training: the open step and the score of the last try; ``practice`` is the question."""

    study: str
    step: Literal["guidelines", "practice", "failed", "passed"]
    guidelines: str
    needed: int | None
    tries_left: int | None
    agreed: int | None
    asked: int | None
    missed: list[Feedback]
    contact: str | None
    practice: PracticeOut | None


class PracticeIn(PracticeForm, Body):
    """An answer to a practice question."""


class FeedbackOut(BaseModel):
    """What is right and why, null if a later try may ask it again, and the training now."""

    agrees: bool | None
    answers: tuple[str, ...] | None
    explanation: str | None
    training: TrainingOut


class QuestionIn(Body):
    """A practice question; T2 has one page on the left, T1 one per side, T3 a list per side."""

    tool: Tool
    query: Text
    description: Text = ""
    left: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    right: Annotated[tuple[Name, ...], Field(max_length=100)] = ()
    answers: Annotated[tuple[Name, ...], Field(min_length=1, max_length=20)]
    explanation: Text


@dataclass(frozen=True, slots=True)
class QuestionOut(PracticeQuestion):
    """A practice question of a study."""

    item: int
    id: str


class TraineeOut(BaseModel):
    """A person with work in the study and the state of their training."""

    model_config = ConfigDict(from_attributes=True)
    user: int = Field(validation_alias="user_id")
    name: str
    email: str
    state: str
    score: str
    may_grant: bool


class StudyTrainingOut(BaseModel):
    """The practice questions of a study and its people in training."""

    practice: list[QuestionOut]
    people: list[TraineeOut]


@router.get("/training/{slug}")
def get_my_training(
    request: Request, session: SessionDep, user: ApiUser, slug: Slug
) -> TrainingOut:
    """Return my training for a study; until it ends, assignments return 403 `training_required`."""
    study = trainings.study_in_training(session, slug, user.id)
    return _out(request, session, trainings.training_state(session, study, user.id))


@router.post("/training/{slug}/guidelines")
def post_my_guidelines(
    request: Request, session: SessionDep, user: ApiUser, slug: Slug
) -> TrainingOut:
    """Confirm that the guidelines were read."""
    study = trainings.study_in_training(session, slug, user.id)
    trainings.confirm_guidelines(session, study, user.id)
    return _out(request, session, trainings.training_state(session, study, user.id))


@router.post("/training/{slug}/answers")
def post_my_answer(
    request: Request, session: SessionDep, user: ApiUser, slug: Slug, body: PracticeIn
) -> FeedbackOut:
    """Answer a practice question; an answer sent twice counts once."""
    study = trainings.study_in_training(session, slug, user.id)
    stored = trainings.answer_question(
        session, study, user.id, item_id=body.item, answer=body.answer
    )
    item = session.get_one(PracticeItem, body.item)
    training = trainings.training_state(session, study, user.id)
    found = trainings.feedback(training, item, stored)
    return FeedbackOut(
        agrees=found.agrees,
        answers=found.answers,
        explanation=found.explanation,
        training=_out(request, session, training),
    )


@router.get("/studies/{slug}/training")
def get_api_study_training(
    session: SessionDep, _user: ApiResearcher, study: StudyDep
) -> StudyTrainingOut:
    """Return the practice questions of a study and the training of its assessors."""
    return StudyTrainingOut(
        practice=[
            _question_out(each.id, each.name, each.question)
            for each in practice.questions_of(session, study)
        ],
        people=[TraineeOut.model_validate(each) for each in trainees_of(session, study)],
    )


@router.post("/studies/{slug}/training/questions", status_code=201)
def post_api_question(
    session: SessionDep, user: ApiAdmin, study: StudyDep, body: QuestionIn
) -> QuestionOut:
    """Add a practice question to a study."""
    question = PracticeQuestion(**dict(body))
    item = practice.add_question(session, study, question, actor_id=user.id)
    return _question_out(item.id, item.external_id, question)


@router.delete("/studies/{slug}/training/questions/{item_id}", status_code=204)
def delete_api_question(
    session: SessionDep, user: ApiAdmin, study: StudyDep, item_id: RowId
) -> None:
    """Remove a practice question."""
    practice.remove_question(session, study, item_id, actor_id=user.id)


@router.post("/studies/{slug}/training/people/{user_id}/grant", status_code=204)
def post_api_grant(session: SessionDep, user: ApiAdmin, study: StudyDep, user_id: RowId) -> None:
    """Grant another attempt to a person who has used them all."""
    trainings.grant_try(session, study, user_id, actor_id=user.id)


def _out(request: Request, session: Session, training: TrainingState) -> TrainingOut:
    failed = training.step is Step.FAILED
    counted = training.rules.needed is not None
    return TrainingOut(
        study=training.slug,
        step=training.step.value,
        guidelines=training.guidelines,
        needed=training.rules.needed,
        tries_left=training.record.tries_left(training.rules) if counted else None,
        agreed=training.agreed,
        asked=training.asked,
        missed=trainings.missed_by(session, training),
        contact=trainings.contact_of(session, training) if failed else None,
        practice=_practice_out(request, session, training),
    )


def _practice_out(
    request: Request, session: Session, training: TrainingState
) -> PracticeOut | None:
    if training.step is not Step.PRACTICE or training.item_id is None:
        return None
    item = session.get_one(PracticeItem, training.item_id)
    state = assignment_out(
        session,
        request.app.state.texts,
        practice_state(session, training, item, training.number, done=training.number - 1),
    )
    return PracticeOut(
        item=item.id,
        number=training.number,
        of=training.of,
        tool=item.tool,
        query=item.query,
        description=item.description,
        answers=state.answers,
        question=state.question,
    )


def _question_out(item_id: int, name: str, question: PracticeQuestion) -> QuestionOut:
    return QuestionOut(**asdict(question), item=item_id, id=name)

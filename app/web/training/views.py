"""Forms and views of the training pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from topkapi.app.db.models import Study, Training, User
from topkapi.app.db.queries import training as queries
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.settings import Setting
from topkapi.app.domain.training.practice import PracticeQuestion
from topkapi.app.domain.training.rules import Step, TrainingRules, rules_of
from topkapi.app.services.judging.session_summary import Completion
from topkapi.app.services.training.practice import StoredQuestion
from topkapi.app.services.training.trainings import (
    Feedback,
    TrainingState,
    missed_in_last_try,
    record_of,
)
from topkapi.app.web.common.received import Received
from topkapi.app.web.common.views import Refusal
from topkapi.app.web.judging.views import WorkView
from topkapi.app.web.studies.views import SettingsForm
from topkapi.app.web.studies.visit import StudyHead

Line = Annotated[str, Field(max_length=400)]
Text = Annotated[str, Field(max_length=10_000)]
ItemId = Annotated[int, Field(ge=1, le=2**31 - 1)]
_KINDS = {Step.PASSED: "good", Step.FAILED: "warn", Step.PRACTICE: "accent", Step.GUIDELINES: ""}


class PracticeForm(Received):
    """An answer to a practice question."""

    item: ItemId
    answer: Annotated[str, Field(max_length=100)]


class QuestionForm(Received):
    """A practice question as typed; pages are ids of documents, several on lines of their own."""

    tool: Tool = Tool.PAIRS
    query: Text = ""
    description: Text = ""
    left: Text = ""
    right: Text = ""
    answer: Line = ""
    explanation: Text = ""

    def to_question(self) -> PracticeQuestion:
        """Return the question; a grade has only the left page."""
        return PracticeQuestion(
            tool=self.tool,
            query=self.query.strip(),
            description=self.description.strip(),
            left=tuple(self.left.split()),
            right=() if self.tool is Tool.GRADES else tuple(self.right.split()),
            answers=tuple(each.strip() for each in self.answer.split(",") if each.strip()),
            explanation=self.explanation.strip(),
        )


@dataclass(frozen=True, slots=True)
class GuidelinesStep:
    """The guidelines to read, and what comes after them."""

    training: TrainingState
    html: str


@dataclass(frozen=True, slots=True)
class PracticeView(WorkView):
    """A practice question, and after an answer the feedback to it."""

    item_id: int = 0
    attempt: int = 1
    tries: int | None = None
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True)
class ResultView:
    """The score of a try, what was missed, what happens now, and the guidelines to read again."""

    training: TrainingState
    missed: Sequence[Feedback]
    contact: str
    html: str
    completion: Completion | None = None


@dataclass(frozen=True, slots=True)
class TraineeLine:
    """A person with work in the study and the state of their training, in words."""

    user_id: int
    name: str
    email: str
    state: str
    kind: str
    score: str
    missed: Sequence[str]
    may_grant: bool


@dataclass(frozen=True, slots=True)
class StudyTrainingView:
    """The training of a study: settings, practice questions and people."""

    head: StudyHead
    form: SettingsForm
    settings: Sequence[Setting]
    questions: Sequence[StoredQuestion]
    people: Sequence[TraineeLine]
    question_form: QuestionForm
    answers: Mapping[str, Sequence[str]]
    refusal: Refusal | None = None


def trainees_of(session: Session, study: Study) -> Sequence[TraineeLine]:
    """Return the people with work in the study and the state of their training."""
    rules = rules_of(study.settings)
    missed = missed_in_last_try(session, study)
    return [
        _line(user, training, begun, rules, missed.get(user.id, ()))
        for user, training, begun in queries.people_in(session, study.id)
    ]


def _line(
    user: User,
    training: Training | None,
    begun: int,
    rules: TrainingRules,
    missed: Sequence[str],
) -> TraineeLine:
    record = record_of(training)
    step = record.step(rules)
    states = {
        Step.GUIDELINES: "not begun",
        Step.PRACTICE: f"try {record.attempt}" if rules.needed else "practising",
        Step.FAILED: "no tries left",
        Step.PASSED: "passed",
    }
    exempt = begun > 0 and not record.passed
    return TraineeLine(
        user_id=user.id,
        name=user.name,
        email=user.email,
        state="began without training" if exempt else states[step],
        kind="" if exempt else _KINDS[step],
        score=_score(training),
        missed=missed,
        may_grant=step is Step.FAILED and not exempt,
    )


def _score(training: Training | None) -> str:
    if training is None or not training.asked:
        return ""
    return f"{training.agreed} of {training.asked}"

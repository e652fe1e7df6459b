"""Trainings of people: confirm the guidelines, answer practice questions, grant another try.

A write locks the person's training, so that a double click or a second tab counts once.
"""

from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import PracticeAnswer, PracticeItem, Study, Training, User
from topkapi.app.db.queries import training as queries
from topkapi.app.db.queries.crowds import is_crowd, unfinished_work
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.errors import AnswerNotAllowed, Conflict, NotFound, OutOfTurn
from topkapi.app.domain.study import StudySettings
from topkapi.app.domain.training.practice import allowed_answers
from topkapi.app.domain.training.rules import (
    Step,
    TrainingRecord,
    TrainingRules,
    concluded,
    rules_of,
)
from topkapi.app.services import audit
from topkapi.app.services.assignments.manual_assignment import withdraw_many

_CONTACTS = 3


@dataclass(frozen=True, slots=True)
class TrainingState:
    """A person's training: the open step, the score of the last try, and the open question.

    ``number`` counts the open question from 1 among ``of``.
    """

    study_id: int
    slug: str
    name: str
    guidelines: str
    user_id: int
    settings: StudySettings
    rules: TrainingRules
    record: TrainingRecord
    number: int
    of: int
    item_id: int | None
    agreed: int | None = None
    asked: int | None = None

    @property
    def step(self) -> Step:
        """The step that is open."""
        return self.record.step(self.rules)


@dataclass(frozen=True, slots=True)
class Feedback:
    """An answer to a practice question; what is right and why is None if it may be asked again."""

    item: int
    tool: Tool
    query: str
    answer: str
    agrees: bool | None = None
    answers: tuple[str, ...] | None = None
    explanation: str | None = None


def feedback(training: TrainingState, item: PracticeItem, given: PracticeAnswer) -> Feedback:
    """Return what the person may know about an answer."""
    found = Feedback(item.id, item.tool, item.query, given.answer)
    if not training.record.shows_answers(training.rules, given.attempt):
        return found
    right = tuple(item.answers)
    return replace(found, agrees=given.agrees, answers=right, explanation=item.explanation)


def study_in_training(session: Session, slug: str, user_id: int) -> Study:
    """Return a study in which the person has work or was trained; raise `NotFound` otherwise."""
    study = study_of_slug(session, slug)
    if study is None or not (
        queries.has_work(session, user_id, slug)
        or queries.training_of(session, user_id, study.id, lock=False)
    ):
        raise NotFound(f"You have no work in a study {slug!r}.")
    return study


def training_state(session: Session, study: Study, user_id: int) -> TrainingState:
    """Return the person's training; it is passed if the study has none or they have begun."""
    settings = study.settings
    row = queries.training_of(session, user_id, study.id, lock=False)
    record = record_of(row)
    if not settings.training or queries.has_begun(session, user_id, study.slug):
        record = replace(record, passed=True)
    items = queries.items_for(session, study.id, user_id)
    answered = queries.answers_of(session, user_id, study.id, record.attempt)
    left = [item for item in items if item.id not in answered]
    return TrainingState(
        study_id=study.id,
        slug=study.slug,
        name=study.name,
        guidelines=study.guidelines,
        user_id=user_id,
        settings=settings,
        rules=rules_of(settings),
        record=record,
        number=len(items) - len(left) + 1,
        of=len(items),
        item_id=left[0].id if left else None,
        agreed=None if row is None else row.agreed,
        asked=None if row is None else row.asked,
    )


def open_trainings(session: Session, user_id: int) -> list[tuple[str, str]]:
    """Return slug and name of the studies whose training opens the person's work."""
    rows = queries.untrained_studies(session, user_id)
    return [(slug, name) for slug, name, settings in rows if settings.training]


def missed_in_last_try(session: Session, study: Study) -> dict[int, list[str]]:
    """Return by person the practice questions missed in their last try, in order."""
    tries: dict[int, tuple[int, list[str]]] = {}
    for user_id, attempt, question in queries.missed_questions(session, study.id):
        if tries.get(user_id, (0, []))[0] < attempt:
            tries[user_id] = (attempt, [])
        if question is not None:
            tries[user_id][1].append(question)
    return {user_id: missed for user_id, (_, missed) in tries.items()}


def missed_by(session: Session, training: TrainingState) -> list[Feedback]:
    """Return the questions that the person missed in the last complete try, with the answers."""
    record = training.record
    attempt = record.attempt if record.passed else record.failed
    given = queries.answers_of(session, training.user_id, training.study_id, attempt)
    items = queries.items_for(session, training.study_id, training.user_id)
    answered = [(item, given[item.id]) for item in items if item.id in given]
    return [feedback(training, item, answer) for item, answer in answered if not answer.agrees]


def confirm_guidelines(session: Session, study: Study, user_id: int) -> None:
    """Record that the person has read the guidelines; without practice this is the training."""
    row = _locked(session, study, user_id)
    if row.confirmed_at is None:
        row.confirmed_at = now()
        _conclude(session, study, row)


def answer_question(
    session: Session, study: Study, user_id: int, *, item_id: int, answer: str
) -> PracticeAnswer:
    """Record the answer to a practice question of the current try, once; return what is stored."""
    row = _locked(session, study, user_id)
    settings = study.settings
    item = session.get(PracticeItem, item_id)
    if item is None or item.study_id != study.id:
        raise NotFound("This practice question was removed.")
    record = record_of(row)
    stored = queries.answers_of(session, user_id, study.id, record.attempt).get(item_id)
    if stored is not None:
        return stored
    if record.step(rules_of(settings)) is not Step.PRACTICE:
        return _earlier(session, user_id, item_id)
    if answer not in allowed_answers(settings, item.tool):
        raise AnswerNotAllowed(f"There is no answer {answer!r} to this question.")
    stored = PracticeAnswer(
        user_id=user_id,
        item_id=item_id,
        attempt=record.attempt,
        answer=answer,
        agrees=answer in item.answers,
    )
    session.add(stored)
    session.flush()
    _conclude(session, study, row)
    return stored


def _earlier(session: Session, user_id: int, item_id: int) -> PracticeAnswer:
    """Return the answer of an earlier try: the request was sent twice."""
    stored = queries.last_answer_to(session, user_id, item_id)
    if stored is None:
        raise OutOfTurn("No practice question is open.")
    return stored


def grant_try(session: Session, study: Study, user_id: int, *, actor_id: int | None = None) -> None:
    """Grant one more try to a person who has used all of them."""
    row = queries.training_of(session, user_id, study.id, lock=True)
    rules = rules_of(study.settings)
    if row is None or record_of(row).step(rules) is not Step.FAILED:
        raise Conflict("This person has tries left, or has passed; nothing was changed.")
    row.granted += 1
    person = session.get_one(User, user_id)
    audit.record(session, actor_id, "training.grant", study.slug, person=person.email)


def conclude_open(session: Session, study: Study) -> None:
    """End the tries that are complete, after a practice question was removed."""
    for row in queries.open_trainings(session, study.id):
        if row.confirmed_at is not None:
            _conclude(session, study, row)


def contact_of(session: Session, training: TrainingState) -> str:
    """Return whom to ask for another try: the study's contact, or the first administrators.

    Crowd workers learn no name and no address of an administrator.
    """
    contact = training.settings.training_contact
    if contact or is_crowd(session, training.user_id):
        return contact
    people = queries.administrators(session, _CONTACTS)
    return ", ".join(f"{person.name} ({person.email})" for person in people)


def record_of(row: Training | None) -> TrainingRecord:
    """Return a stored training as the record that the rules read."""
    if row is None:
        return TrainingRecord()
    return TrainingRecord(
        confirmed=row.confirmed_at is not None,
        passed=row.passed_at is not None,
        failed=row.failed,
        granted=row.granted,
    )


def _locked(session: Session, study: Study, user_id: int) -> Training:
    """Return the person's training for a change, created if it is the first one."""
    queries.ensure_training(session, user_id, study.id)
    row = queries.training_of(session, user_id, study.id, lock=True)
    assert row is not None
    return row


def _conclude(session: Session, study: Study, row: Training) -> None:
    """End the current try if all its questions are answered, and store the score.

    A crowd worker without tries loses the work, so that somebody else can take the place.
    """
    rules = rules_of(study.settings)
    before = record_of(row)
    given = queries.answers_of(session, row.user_id, study.id, before.attempt)
    asked_items = [item.id for item in queries.items_for(session, study.id, row.user_id)]
    answers = {number: given[number] for number in asked_items if number in given}
    agreed, asked = _score(answers), len(asked_items)
    after = concluded(rules, before, agreed=agreed, answered=len(answers), asked=asked)
    if after == before:
        return
    row.agreed, row.asked = agreed, asked
    row.failed = after.failed
    row.passed_at = now() if after.passed else None
    if after.step(rules) is Step.FAILED and is_crowd(session, row.user_id):
        withdraw_many(session, study, unfinished_work(session, row.user_id))


def _score(answers: dict[int, PracticeAnswer]) -> int:
    return sum(answer.agrees for answer in answers.values())

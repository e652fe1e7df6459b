"""Trainings of people: confirm the guidelines, answer practice questions, grant another try.

A write locks the person's training, so that a double click or a second tab counts once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Row, case, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import (
    Assignment,
    PracticeAnswer,
    PracticeItem,
    Query,
    Study,
    Training,
    User,
)
from topkapi.app.db.queries import training as queries
from topkapi.app.db.queries.crowds import is_crowd
from topkapi.app.db.queries.studies.studies import study_of_slug
from topkapi.app.db.queries.training import work_of
from topkapi.app.domain.enums import Role, Tool
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
class OpenTraining:
    """A training before the work: tries left, None if they are not counted, and its questions."""

    tries_left: int | None
    questions: int


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
        _has_work(session, user_id, slug) or _training_of(session, user_id, study.id, lock=False)
    ):
        raise NotFound(f"You have no work in a study {slug!r}.")
    return study


def training_state(session: Session, study: Study, user_id: int) -> TrainingState:
    """Return the person's training; it is passed if the study has none or they have begun."""
    settings = study.settings
    row = _training_of(session, user_id, study.id, lock=False)
    record = record_of(row)
    if not settings.training or queries.has_begun(session, user_id, study.slug):
        record = replace(record, passed=True)
    items = queries.items_for(session, study.id, user_id)
    answered = _answers_of(session, user_id, study.id, record.attempt)
    unanswered = [item for item in items if item.id not in answered]
    return TrainingState(
        study_id=study.id,
        slug=study.slug,
        name=study.name,
        guidelines=study.guidelines,
        user_id=user_id,
        settings=settings,
        rules=rules_of(settings),
        record=record,
        number=len(items) - len(unanswered) + 1,
        of=len(items),
        item_id=unanswered[0].id if unanswered else None,
        agreed=None if row is None else row.agreed,
        asked=None if row is None else row.asked,
    )


def open_trainings(session: Session, user_id: int) -> dict[str, OpenTraining]:
    """Return by slug the trainings that come before any work."""
    trainings: dict[str, OpenTraining] = {}
    for study_id, slug, settings, failed, granted in _untrained_studies(session, user_id):
        if settings.training:
            rules = rules_of(settings)
            record = TrainingRecord(failed=failed or 0, granted=granted or 0)
            left = None if rules.needed is None else record.tries_left(rules)
            trainings[slug] = OpenTraining(left, len(queries.items_for(session, study_id, user_id)))
    return trainings


def missed_in_last_try(session: Session, study: Study) -> dict[int, list[str]]:
    """Return by person the practice questions missed in their last try, in order."""
    tries: dict[int, tuple[int, list[str]]] = {}
    for user_id, attempt, question in _missed_questions(session, study.id):
        if tries.get(user_id, (0, []))[0] < attempt:
            tries[user_id] = (attempt, [])
        if question is not None:
            tries[user_id][1].append(question)
    return {user_id: missed for user_id, (_, missed) in tries.items()}


def missed_by(session: Session, training: TrainingState) -> list[Feedback]:
    """Return the questions that the person missed in the last complete try, with the answers."""
    record = training.record
    attempt = record.attempt if record.passed else record.failed
    given = _answers_of(session, training.user_id, training.study_id, attempt)
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
    stored = _answers_of(session, user_id, study.id, record.attempt).get(item_id)
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
    row = _training_of(session, user_id, study.id, lock=True)
    rules = rules_of(study.settings)
    if row is None or record_of(row).step(rules) is not Step.FAILED:
        raise Conflict("This person has tries left, or has passed; nothing was changed.")
    row.granted += 1
    person = session.get_one(User, user_id)
    audit.record(session, actor_id, "training.grant", study.slug, person=person.email)


def conclude_open(session: Session, study: Study) -> None:
    """End the tries that are complete, after a practice question was removed."""
    for row in open_trainings_of(session, study.id):
        if row.confirmed_at is not None:
            _conclude(session, study, row)


def contact_of(session: Session, training: TrainingState) -> str:
    """Return whom to ask for another try: the study's contact, or the first administrators.

    Crowd workers learn no name and no address of an administrator.
    """
    contact = training.settings.training_contact
    if contact or is_crowd(session, training.user_id):
        return contact
    admins = select(User).where(User.role == Role.ADMIN, User.disabled_at.is_(None))
    people = session.scalars(admins.order_by(User.id).limit(_CONTACTS))
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
    _ensure_training(session, user_id, study.id)
    row = _training_of(session, user_id, study.id, lock=True)
    assert row is not None
    return row


def _conclude(session: Session, study: Study, row: Training) -> None:
    """End the current try if all its questions are answered, and store the score.

    A crowd worker without tries loses the work, so that somebody else can take the place.
    """
    rules = rules_of(study.settings)
    before = record_of(row)
    given = _answers_of(session, row.user_id, study.id, before.attempt)
    asked_items = [item.id for item in queries.items_for(session, study.id, row.user_id)]
    answers = {number: given[number] for number in asked_items if number in given}
    agreed, asked = sum(each.agrees for each in answers.values()), len(asked_items)
    after = concluded(rules, before, agreed=agreed, answered=len(answers), asked=asked)
    if after == before:
        return
    row.agreed, row.asked = agreed, asked
    row.failed = after.failed
    row.passed_at = now() if after.passed else None
    if after.step(rules) is Step.FAILED and is_crowd(session, row.user_id):
        withdraw_many(session, study, _unfinished_work(session, row.user_id))


def _unfinished_work(session: Session, user_id: int) -> Sequence[int]:
    """Return the person's unfinished assignments."""
    statement = select(Assignment.id).where(
        Assignment.user_id == user_id,
        Assignment.withdrawn_at.is_(None),
        Assignment.finished_at.is_(None),
    )
    return session.scalars(statement.order_by(Assignment.id)).all()


def _has_work(session: Session, user_id: int, slug: str) -> bool:
    """Return whether the person has work in the study that is not withdrawn."""
    return bool(session.scalar(work_of(user_id, slug).where(Assignment.withdrawn_at.is_(None))))


def _untrained_studies(
    session: Session, user_id: int
) -> Sequence[Row[int, str, StudySettings, int | None, int | None]]:
    """Return id, slug, settings, failed and granted tries of studies that the person has not begun.

    Studies whose training the person has passed are left out.
    """
    statement = (
        select(
            Study.id,
            Study.slug,
            Study.settings,
            func.max(Training.failed),
            func.max(Training.granted),
        )
        .join(Query, Query.study_id == Study.id)
        .join(Assignment, Assignment.query_id == Query.id)
        .outerjoin(Training, (Training.study_id == Study.id) & (Training.user_id == user_id))
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Training.passed_at.is_(None),
        )
        .group_by(Study.id)
        .having(func.count(Assignment.last_entry_at) == 0)
        .order_by(Study.name, Study.id)
    )
    return session.execute(statement).all()


def _missed_questions(session: Session, study_id: int) -> Sequence[Row[int, int, str | None]]:
    """Return person, try and, where the answer was not a known one, question of every answer."""
    missed = case((PracticeAnswer.agrees, None), else_=PracticeItem.external_id)
    statement = (
        select(PracticeAnswer.user_id, PracticeAnswer.attempt, missed)
        .join(PracticeItem, PracticeItem.id == PracticeAnswer.item_id)
        .where(PracticeItem.study_id == study_id)
        .order_by(PracticeAnswer.attempt, PracticeItem.position, PracticeItem.id)
    )
    return session.execute(statement).all()


def _training_of(session: Session, user_id: int, study_id: int, *, lock: bool) -> Training | None:
    """Return the person's training, locked until the transaction ends if ``lock``."""
    statement = select(Training).where(Training.user_id == user_id, Training.study_id == study_id)
    return session.scalar(statement.with_for_update() if lock else statement)


def _ensure_training(session: Session, user_id: int, study_id: int) -> None:
    """Insert the person's training unless it exists; two tabs may do so at once."""
    is_postgresql = session.get_bind().dialect.name == "postgresql"
    new = (postgresql if is_postgresql else sqlite).insert(Training)
    values = {"user_id": user_id, "study_id": study_id, "failed": 0, "granted": 0}
    session.execute(new.values(values).on_conflict_do_nothing())


def _answers_of(
    session: Session, user_id: int, study_id: int, attempt: int
) -> dict[int, PracticeAnswer]:
    """Return the person's answers of one try by practice question."""
    statement = (
        select(PracticeAnswer)
        .join(PracticeItem, PracticeItem.id == PracticeAnswer.item_id)
        .where(
            PracticeAnswer.user_id == user_id,
            PracticeAnswer.attempt == attempt,
            PracticeItem.study_id == study_id,
        )
    )
    return {row.item_id: row for row in session.scalars(statement)}


def open_trainings_of(session: Session, study_id: int) -> Sequence[Training]:
    """Return the trainings of the study that are not passed."""
    statement = select(Training).where(Training.study_id == study_id, Training.passed_at.is_(None))
    return session.scalars(statement.order_by(Training.user_id)).all()

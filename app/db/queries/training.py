"""Data for training: what is due, practice questions, answers, and people in training."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, case, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    Document,
    PracticeAnswer,
    PracticeItem,
    Query,
    Study,
    Training,
    User,
)
from topkapi.app.domain.enums import Role
from topkapi.app.domain.study import StudySettings


def study_and_training(
    session: Session, user_id: int, query_id: int
) -> tuple[str, StudySettings, bool]:
    """Return slug and settings of the query's study, and whether the person's training is over."""
    statement = (
        select(Study.slug, Study.settings, Training.passed_at)
        .join(Query, Query.study_id == Study.id)
        .outerjoin(Training, (Training.study_id == Study.id) & (Training.user_id == user_id))
        .where(Query.id == query_id)
    )
    slug, settings, passed_at = session.execute(statement).one()
    return slug, settings, passed_at is not None


def has_begun(session: Session, user_id: int, slug: str) -> bool:
    """Return whether the person has an entry in any log of the study."""
    return bool(
        session.scalar(_work_of(user_id, slug).where(Assignment.last_entry_at.is_not(None)))
    )


def is_machine(session: Session, user_id: int) -> bool:
    """Return whether the assessor is a machine, which needs no training."""
    return bool(session.scalar(select(User.machine).where(User.id == user_id)))


def has_work(session: Session, user_id: int, slug: str) -> bool:
    """Return whether the person has work in the study that is not withdrawn."""
    return bool(session.scalar(_work_of(user_id, slug).where(Assignment.withdrawn_at.is_(None))))


def _work_of(user_id: int, slug: str) -> Any:
    return (
        select(func.count(Assignment.id))
        .join(Query, Query.id == Assignment.query_id)
        .join(Study, Study.id == Query.study_id)
        .where(Assignment.user_id == user_id, Study.slug == slug)
    )


def items_of(session: Session, study_id: int) -> Sequence[PracticeItem]:
    """Return the practice questions of a study in order."""
    statement = select(PracticeItem).where(PracticeItem.study_id == study_id)
    return session.scalars(statement.order_by(PracticeItem.position, PracticeItem.id)).all()


def items_for(session: Session, study_id: int, user_id: int) -> Sequence[PracticeItem]:
    """Return the practice questions of the tools that the person's work in the study uses.

    Withdrawn work counts too, so that a try keeps its questions.
    """
    tools = (
        select(Assignment.tool)
        .join(Query, Query.id == Assignment.query_id)
        .where(Assignment.user_id == user_id, Query.study_id == study_id)
    )
    statement = select(PracticeItem).where(
        PracticeItem.study_id == study_id, PracticeItem.tool.in_(tools)
    )
    return session.scalars(statement.order_by(PracticeItem.position, PracticeItem.id)).all()


def untrained_studies(session: Session, user_id: int) -> Sequence[Row[str, str, StudySettings]]:
    """Return slug, name and settings of the studies with work that the person has not begun.

    Studies whose training the person has passed are left out.
    """
    statement = (
        select(Study.slug, Study.name, Study.settings)
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


def missed_questions(session: Session, study_id: int) -> Sequence[Row[int, int, str | None]]:
    """Return person, try and, where the answer was not a known one, question of every answer."""
    missed = case((PracticeAnswer.agrees, None), else_=PracticeItem.external_id)
    statement = (
        select(PracticeAnswer.user_id, PracticeAnswer.attempt, missed)
        .join(PracticeItem, PracticeItem.id == PracticeAnswer.item_id)
        .where(PracticeItem.study_id == study_id)
        .order_by(PracticeAnswer.attempt, PracticeItem.position, PracticeItem.id)
    )
    return session.execute(statement).all()


def training_of(session: Session, user_id: int, study_id: int, *, lock: bool) -> Training | None:
    """Return the person's training, locked until the transaction ends if ``lock``."""
    statement = select(Training).where(Training.user_id == user_id, Training.study_id == study_id)
    return session.scalar(statement.with_for_update() if lock else statement)


def ensure_training(session: Session, user_id: int, study_id: int) -> None:
    """Insert the person's training unless it exists; two tabs may do so at once."""
    is_postgresql = session.get_bind().dialect.name == "postgresql"
    new = (postgresql if is_postgresql else sqlite).insert(Training)
    values = {"user_id": user_id, "study_id": study_id, "failed": 0, "granted": 0}
    session.execute(new.values(values).on_conflict_do_nothing())


def answers_of(
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


def last_answer_to(session: Session, user_id: int, item_id: int) -> PracticeAnswer | None:
    """Return the person's latest answer to a practice question."""
    statement = select(PracticeAnswer).where(
        PracticeAnswer.user_id == user_id, PracticeAnswer.item_id == item_id
    )
    return session.scalar(statement.order_by(PracticeAnswer.attempt.desc()).limit(1))


def open_trainings(session: Session, study_id: int) -> Sequence[Training]:
    """Return the trainings of the study that are not passed."""
    statement = select(Training).where(Training.study_id == study_id, Training.passed_at.is_(None))
    return session.scalars(statement.order_by(Training.user_id)).all()


def document_names(session: Session, document_ids: Sequence[int]) -> dict[int, str]:
    """Return names of documents by id."""
    statement = select(Document.id, Document.external_id).where(Document.id.in_(document_ids))
    return {row[0]: row[1] for row in session.execute(statement)}


def people_in(session: Session, study_id: int) -> Sequence[Row[User, Training | None, int]]:
    """Return the people with work in the study, their training, and how much of it has begun."""
    begun = func.count(Assignment.last_entry_at)
    statement = (
        select(User, Training, begun)
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .outerjoin(Training, (Training.user_id == User.id) & (Training.study_id == study_id))
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None))
        .group_by(User.id, Training.user_id, Training.study_id)
        .order_by(User.name, User.id)
    )
    return session.execute(statement).all()


def administrators(session: Session, limit: int) -> Sequence[User]:
    """Return administrators who can sign in."""
    statement = select(User).where(User.role == Role.ADMIN, User.disabled_at.is_(None))
    return session.scalars(statement.order_by(User.id).limit(limit)).all()

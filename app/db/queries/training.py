"""Data for training: what is due, practice questions, answers, and people in training."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    PracticeAnswer,
    PracticeItem,
    Query,
    Study,
    Training,
    User,
)
from topkapi.app.db.queries.machines import by_people
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
    return bool(session.scalar(work_of(user_id, slug).where(Assignment.last_entry_at.is_not(None))))


def is_machine(session: Session, user_id: int) -> bool:
    """Return whether the assessor is a machine, which needs no training."""
    return bool(session.scalar(select(User.machine).where(User.id == user_id)))


def work_of(user_id: int, slug: str) -> Any:
    """Select the number of somebody's assignments in a study."""
    return (
        select(func.count(Assignment.id))
        .join(Query, Query.id == Assignment.query_id)
        .join(Study, Study.id == Query.study_id)
        .where(Assignment.user_id == user_id, Study.slug == slug)
    )


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


def last_answer_to(session: Session, user_id: int, item_id: int) -> PracticeAnswer | None:
    """Return the person's latest answer to a practice question."""
    statement = select(PracticeAnswer).where(
        PracticeAnswer.user_id == user_id, PracticeAnswer.item_id == item_id
    )
    return session.scalar(statement.order_by(PracticeAnswer.attempt.desc()).limit(1))


def people_in(session: Session, study_id: int) -> Sequence[Row[User, Training | None, int]]:
    """Return the people with work in the study, their training, and how much of it has begun."""
    begun = func.count(Assignment.last_entry_at)
    statement = (
        select(User, Training, begun)
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .outerjoin(Training, (Training.user_id == User.id) & (Training.study_id == study_id))
        .where(Query.study_id == study_id, Assignment.withdrawn_at.is_(None), by_people())
        .group_by(User.id, Training.user_id, Training.study_id)
        .order_by(User.name, User.id)
    )
    return session.execute(statement).all()

"""Data of flags: those of a study, and an open one of a question."""

from collections.abc import Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session, contains_eager, defer, joinedload

from topkapi.app.db.models import Assignment, Flag, Query

OPEN, HANDLED = "open", "handled"


def flags_of_study(
    session: Session, study_id: int, *, limit: int, state: str = ""
) -> Sequence[Flag]:
    """Return flags with assignment, query, assessor and handler: open ones first, then latest."""
    statement = (
        select(Flag)
        .join(Flag.assignment)
        .join(Assignment.query)
        .options(
            contains_eager(Flag.assignment).contains_eager(Assignment.query),
            contains_eager(Flag.assignment).joinedload(Assignment.user),
            contains_eager(Flag.assignment).options(defer(Assignment.plan)),
            joinedload(Flag.handler),
        )
        .where(Query.study_id == study_id)
        .order_by(Flag.handled_at.is_not(None), Flag.id.desc())
        .limit(limit)
    )
    if state:
        is_open = Flag.handled_at.is_(None)
        statement = statement.where(is_open if state == OPEN else ~is_open)
    return session.scalars(statement).all()


def count_open(session: Session, study_id: int) -> int:
    """Return the number of open flags of a study."""
    statement = (
        select(func.count(Flag.id))
        .join(Flag.assignment)
        .join(Assignment.query)
        .where(Query.study_id == study_id, Flag.handled_at.is_(None))
    )
    return session.scalar(statement) or 0


def open_flag(session: Session, assignment_id: int, position: int) -> Flag | None:
    """Return the open flag of a question."""
    statement = select(Flag).where(
        Flag.assignment_id == assignment_id,
        Flag.position == position,
        Flag.handled_at.is_(None),
    )
    return session.scalar(statement.order_by(Flag.id).limit(1))


def flags_of_assignment(session: Session, assignment_id: int) -> Sequence[Flag]:
    """Return the flags of an assignment, latest first."""
    statement = select(Flag).where(Flag.assignment_id == assignment_id)
    return session.scalars(statement.order_by(Flag.id.desc())).all()


def flag_of_study(session: Session, study_id: int, flag_id: int) -> Flag | None:
    """Return a flag of the study, locked until the transaction ends."""
    statement = (
        select(Flag)
        .join(Assignment, Assignment.id == Flag.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(Flag.id == flag_id, Query.study_id == study_id)
        .with_for_update(of=Flag)
    )
    return session.scalar(statement)

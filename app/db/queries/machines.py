"""Machine assessors: whose work is a machine's, prompts of studies, and calls."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import (
    Assignment,
    Query,
    User,
)
from topkapi.app.domain.enums import Tool


def by_people() -> ColumnElement[bool]:
    """Select the assignments of people."""
    return Assignment.user_id.not_in(select(User.id).where(User.machine))


def machines_at_work(session: Session, study_id: int) -> dict[str, str]:
    """Return the names of the machines with answers in a study, by e-mail."""
    statement = (
        select(User.email, User.name)
        .join(Assignment, Assignment.user_id == User.id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            User.machine,
            Assignment.answered > 0,
            Assignment.withdrawn_at.is_(None),
        )
        .distinct()
    )
    return {row[0]: row[1] for row in session.execute(statement)}


def queries_without(session: Session, study_id: int, user_id: int, tool: Tool) -> Sequence[int]:
    """Return the queries of a study that a machine was not assigned with a tool."""
    mine = select(Assignment.query_id).where(Assignment.user_id == user_id, Assignment.tool == tool)
    statement = select(Query.id).where(Query.study_id == study_id, Query.id.not_in(mine))
    return session.scalars(statement.order_by(Query.position)).all()

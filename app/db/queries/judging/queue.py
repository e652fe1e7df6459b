"""Select statements for the assessor's queue."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, case, func, select
from sqlalchemy.orm import Session, contains_eager, defer

from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind


def work_of_user(session: Session, user_id: int) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the person's work in active studies, in assignment order, as plain columns.

    Id, study, query, description, tool, answers, expected questions left, active time, last entry,
    finish.
    """
    statement = (
        select(
            Assignment.id,
            Study.name,
            Query.text,
            Query.description,
            Assignment.tool,
            Assignment.answered,
            Assignment.expected_left,
            Assignment.active_ms,
            Assignment.last_entry_at,
            Assignment.finished_at,
        )
        .join(Assignment.query)
        .join(Query.study)
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Study.archived_at.is_(None),
        )
        .order_by(Study.id, Assignment.round, Query.position, Assignment.id)
    )
    return session.execute(statement).all()


def work_since(session: Session, user_id: int, since: datetime) -> tuple[int, int, int]:
    """Return answers (less undone ones), active milliseconds and finished work since a moment."""
    steps = case(
        (JudgmentRow.entry == EntryKind.UNDO, -1),
        else_=1,
    )
    entries = (
        select(
            func.coalesce(func.sum(steps), 0),
            func.coalesce(func.sum(JudgmentRow.active_ms), 0),
        )
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .where(
            Assignment.user_id == user_id,
            Assignment.last_entry_at >= since,
            JudgmentRow.created_at >= since,
        )
    )
    answers, active_ms = session.execute(entries).one()
    finished = select(func.count(Assignment.id)).where(
        Assignment.user_id == user_id, Assignment.finished_at >= since
    )
    return max(0, int(answers)), int(active_ms), session.scalar(finished) or 0


def work_in_study(
    session: Session, user_id: int, study_id: int
) -> Sequence[Row[int, datetime | None, Tool, int]]:
    """Return id, finish, tool and number of answers of the person's assignments in one study."""
    statement = (
        select(Assignment.id, Assignment.finished_at, Assignment.tool, Assignment.answered)
        .join(Assignment.query)
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Query.study_id == study_id,
        )
        .order_by(Assignment.round, Query.position, Assignment.id)
    )
    return session.execute(statement).all()


def assignments_of_user(session: Session, user_id: int) -> Sequence[Assignment]:
    """Return the person's assignments in active studies, with query and study loaded."""
    statement = (
        select(Assignment)
        .join(Assignment.query)
        .join(Query.study)
        .options(
            contains_eager(Assignment.query).contains_eager(Query.study),
            defer(Assignment.plan),  # long, and not needed for progress
        )
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Study.archived_at.is_(None),
        )
        .order_by(Study.id, Assignment.round, Query.position, Assignment.id)
    )
    return session.scalars(statement).all()

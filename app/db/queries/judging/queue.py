"""Select statements for the assessor's queue."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, case, func, select
from sqlalchemy.orm import Session, contains_eager, defer

from topkapi.app.db.base import clock
from topkapi.app.db.models import Assignment, JudgmentRow, PairLease, Query, Study
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind


def waits(session: Session) -> ColumnElement[bool]:
    """Return the condition that a member of a team has nothing to do while others read."""
    others = select(PairLease.assignment_id).where(
        PairLease.query_id == Assignment.query_id,
        PairLease.assignment_id != Assignment.id,
        PairLease.expires_at > clock(session),
    )
    return and_(Assignment.team_waits.is_(True), others.exists())


def work_of_user(session: Session, user_id: int) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the person's work in active studies, in assignment order, as plain columns.

    Id, slug and name of the study, query, description, tool, answers, expected questions left,
    active time, last entry, finish, pages added, whether the member of a team had to wait, and
    whether they still have to.
    """
    statement = (
        select(
            Assignment.id,
            Study.slug,
            Study.name,
            Query.text,
            Query.description,
            Assignment.tool,
            Assignment.answered,
            Assignment.expected_left,
            Assignment.active_ms,
            Assignment.last_entry_at,
            Assignment.finished_at,
            Assignment.added_pages,
            Assignment.team_waits,
            waits(session).label("waits"),
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
) -> Sequence[Row[int, datetime | None, Tool, int, int]]:
    """Return id, finish, tool, answers and added pages of the person's work in one study."""
    summary = Assignment.finished_at, Assignment.tool, Assignment.answered, Assignment.added_pages
    statement = (
        select(Assignment.id, *summary)
        .join(Assignment.query)
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Query.study_id == study_id,
        )
        .order_by(Assignment.round, Query.position, Assignment.id)
    )
    return session.execute(statement).all()


def assignments_of_user(session: Session, user_id: int) -> Sequence[Row[Assignment, bool]]:
    """Return the person's assignments in active studies, with query and study loaded.

    With each, whether others of its team have the last questions.
    """
    statement = (
        select(Assignment, waits(session))
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
    return session.execute(statement).all()

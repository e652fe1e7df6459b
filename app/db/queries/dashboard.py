"""Data of the administrator's dashboard, over all studies that are not archived."""

from collections.abc import Sequence
from datetime import date, datetime

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import Assignment, JudgmentRow, Query, Study
from topkapi.app.db.queries.machines import by_people
from topkapi.app.db.queries.studies.studies import is_finished
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.log import EntryKind


def open_studies(session: Session) -> Sequence[Study]:
    """Return the studies that are not archived, latest first."""
    statement = select(Study).where(Study.archived_at.is_(None), is_finished())
    return session.scalars(statement.order_by(Study.id.desc())).all()


def finished_per_day(session: Session, since: datetime) -> dict[int, dict[date, int]]:
    """Return the number of assignments finished per study and day (UTC) since then."""
    day = func.date(Assignment.finished_at)
    statement = (
        select(Query.study_id, day, func.count())
        .join(Query, Query.id == Assignment.query_id)
        .where(Assignment.withdrawn_at.is_(None), Assignment.finished_at >= since, by_people())
        .group_by(Query.study_id, day)
    )
    found: dict[int, dict[date, int]] = {}
    for study_id, when, count in session.execute(statement):
        found.setdefault(study_id, {})[date.fromisoformat(str(when))] = count
    return found


def sides_per_person(session: Session, study_id: int) -> dict[int, tuple[int, int]]:
    """Return, per person, how often the left and the right page of a pair was chosen."""
    statement = (
        select(
            Assignment.user_id,
            func.sum(case((JudgmentRow.answer == "left", 1), else_=0)),
            func.sum(case((JudgmentRow.answer == "right", 1), else_=0)),
        )
        .join(Assignment, Assignment.id == JudgmentRow.assignment_id)
        .join(Query, Query.id == Assignment.query_id)
        .where(
            Query.study_id == study_id,
            Assignment.tool == Tool.PAIRS,
            Assignment.withdrawn_at.is_(None),
            JudgmentRow.entry == EntryKind.ANSWER,
        )
        .group_by(Assignment.user_id)
    )
    return {user: (int(left), int(right)) for user, left, right in session.execute(statement)}

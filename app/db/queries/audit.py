"""The audit log, latest first, and the values it can be filtered by."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.models import AuditEvent, User


def events_page(
    session: Session,
    *,
    user_id: int | None = None,
    action: str = "",
    subject: str = "",
    limit: int = 50,
    offset: int = 0,
) -> tuple[Sequence[AuditEvent], int]:
    """Return a page of events with their actors, and their number; user 0 is the command line."""

    def filtered(statement: Select[Any]) -> Select[Any]:
        if user_id is not None:
            mine = AuditEvent.user_id == user_id if user_id else AuditEvent.user_id.is_(None)
            statement = statement.where(mine)
        if action:
            statement = statement.where(AuditEvent.action == action)
        return statement.where(AuditEvent.subject == subject) if subject else statement

    total = session.scalar(filtered(select(func.count(AuditEvent.id)))) or 0
    statement = filtered(select(AuditEvent)).options(joinedload(AuditEvent.user))
    rows = session.scalars(statement.order_by(AuditEvent.id.desc()).limit(limit).offset(offset))
    return rows.all(), total


def actions(session: Session) -> Sequence[str]:
    """Return the kinds of actions in the log."""
    return session.scalars(select(AuditEvent.action).distinct().order_by(AuditEvent.action)).all()


def actors(session: Session) -> Sequence[User]:
    """Return the people who acted, by name."""
    acted = select(AuditEvent.user_id).where(AuditEvent.user_id.is_not(None))
    return session.scalars(select(User).where(User.id.in_(acted)).order_by(User.name)).all()


def last_event_about(
    session: Session, subject: str, action: str, *, since: datetime, field: str | None = None
) -> AuditEvent | None:
    """Return the latest event of a kind with its actor, whose detail has ``field`` if given."""
    statement = select(AuditEvent).options(joinedload(AuditEvent.user))
    statement = statement.where(AuditEvent.subject == subject, AuditEvent.action == action)
    statement = statement.where(AuditEvent.at >= since)
    for event in session.scalars(statement.order_by(AuditEvent.id.desc()).limit(100)):
        if field is None or field in event.detail:
            return event
    return None

"""The audit log: who did what to whom, one row per action, written in its transaction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import Any

from sqlalchemy import Select, func, insert, select
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.base import now
from topkapi.app.db.models import AuditEvent, Study, User
from topkapi.app.services.late_writes import LateWrite, LateWrites


@dataclass(frozen=True, slots=True)
class Act:
    """One administrative action; `who` is empty when it came from the command line."""

    id: int
    at: datetime
    who: str | None
    action: str
    subject: str
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedAct(Act):
    """An action with the name of the person who did it."""

    actor: str | None


def record(
    session: Session, actor_id: int | None, action: str, subject: str, **detail: object
) -> None:
    """Record that ``actor_id`` (None: the command line) did ``action`` to ``subject``."""
    session.add(AuditEvent(user_id=actor_id, action=action, subject=subject, detail=detail))


def record_late(
    late: LateWrites, actor_id: int | None, action: str, subject: str, **detail: object
) -> None:
    """Record an action that changes nothing, such as a download, without waiting for a lock."""
    values = {"user_id": actor_id, "action": action, "subject": subject, "detail": detail}
    late.add(("audit", token_hex(8)), LateWrite(insert(AuditEvent).values(at=now(), **values)))


def acts(
    session: Session,
    *,
    user_id: int | None = None,
    action: str = "",
    but: str = "",
    subject: str = "",
    limit: int,
    offset: int = 0,
) -> tuple[Sequence[NamedAct], int]:
    """Return a page of actions, latest first, and their number; user 0 is the command line.

    ``but`` is the kind of action to leave out.
    """

    def filtered(statement: Select[Any]) -> Select[Any]:
        if user_id is not None:
            mine = AuditEvent.user_id == user_id if user_id else AuditEvent.user_id.is_(None)
            statement = statement.where(mine)
        if action:
            statement = statement.where(AuditEvent.action == action)
        if but:
            statement = statement.where(AuditEvent.action != but)
        return statement.where(AuditEvent.subject == subject) if subject else statement

    total = session.scalar(filtered(select(func.count(AuditEvent.id)))) or 0
    statement = filtered(select(AuditEvent)).options(joinedload(AuditEvent.user))
    rows = session.scalars(statement.order_by(AuditEvent.id.desc()).limit(limit).offset(offset))
    return [_act(row) for row in rows], total


def _act(row: AuditEvent) -> NamedAct:
    who, actor = (row.user.email, row.user.name) if row.user else (None, None)
    return NamedAct(row.id, row.at, who, row.action, row.subject, row.detail, actor)


def actions(session: Session) -> Sequence[str]:
    """Return the kinds of actions in the log."""
    return session.scalars(select(AuditEvent.action).distinct().order_by(AuditEvent.action)).all()


def actors(session: Session) -> Sequence[tuple[int, str]]:
    """Return ids and names of the people who acted, by name."""
    acted = select(AuditEvent.user_id).where(AuditEvent.user_id.is_not(None))
    people = select(User.id, User.name).where(User.id.in_(acted)).order_by(User.name)
    return [(row[0], row[1]) for row in session.execute(people)]


def names_of(session: Session, keys: Iterable[str]) -> dict[str, str]:
    """Return the names of people by e-mail address, and of studies by slug."""
    wanted = set(keys)
    people = select(User.email, User.name).where(User.email.in_(wanted))
    studies = select(Study.slug, Study.name).where(Study.slug.in_(wanted))
    return {row[0]: row[1] for row in session.execute(people.union_all(studies))}

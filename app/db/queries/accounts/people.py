"""People as administrators see them, with their invitation links and tokens."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import ApiToken, Assignment, Invitation, User
from topkapi.app.domain.addresses import CROWD
from topkapi.app.domain.enums import Role

Row = TypeVar("Row")
SORTS = {"name": User.name, "email": User.email, "role": User.role, "created": User.created_at}


def users_page(
    session: Session,
    *,
    search: str = "",
    role: Role | None = None,
    crowd: bool | None = None,
    sort: str = "name",
    descending: bool = False,
    limit: int = 50,
    offset: int = 0,
) -> tuple[Sequence[User], int]:
    """Return a page of the people whose name or address contains ``search``, and their number.

    ``crowd`` chooses between workers who came by entry links and all others.
    """
    statement = _filtered(select(User), search, role, crowd)
    total = session.scalar(_filtered(select(func.count(User.id)), search, role, crowd)) or 0
    column: ColumnElement[object] = SORTS[sort].expression
    order = column.desc() if descending else column.asc()
    found = session.scalars(statement.order_by(order, User.id).limit(limit).offset(offset))
    return found.all(), total


def _filtered(
    statement: Select[Row], search: str, role: Role | None, crowd: bool | None
) -> Select[Row]:
    if crowd is not None:
        statement = statement.where(User.email.endswith(f"@{CROWD}") == crowd)
    if search:
        statement = statement.where(
            or_(
                User.name.icontains(search, autoescape=True),
                User.email.icontains(search, autoescape=True),
            )
        )
    return statement.where(User.role == role) if role is not None else statement


def work_counts(session: Session, user_ids: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return how many assignments each person has, and how many are finished."""
    statement = (
        select(Assignment.user_id, func.count(), func.count(Assignment.finished_at))
        .where(Assignment.user_id.in_(set(user_ids)), Assignment.withdrawn_at.is_(None))
        .group_by(Assignment.user_id)
    )
    return {row[0]: (row[1], row[2]) for row in session.execute(statement)}


def open_links(session: Session, user_ids: Iterable[int], at: datetime) -> dict[int, Invitation]:
    """Return the valid link of each person who has one."""
    statement = select(Invitation).where(
        Invitation.user_id.in_(set(user_ids)),
        Invitation.used_at.is_(None),
        Invitation.expires_at > at,
    )
    return {link.user_id: link for link in session.scalars(statement)}


def tokens_of_user(session: Session, user_id: int) -> Sequence[ApiToken]:
    """Return the person's tokens that are not revoked, in creation order."""
    statement = select(ApiToken).where(ApiToken.user_id == user_id, ApiToken.revoked_at.is_(None))
    return session.scalars(statement.order_by(ApiToken.id)).all()

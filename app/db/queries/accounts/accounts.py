"""Select statements about people, tokens and failed sign-ins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role, Scope


def user_by_email(session: Session, email: str) -> User | None:
    """Return the person with this e-mail address, ignoring case."""
    return session.scalars(select(User).where(User.email == email.strip().lower())).one_or_none()


def all_users(session: Session) -> Sequence[User]:
    """Return everyone, by name."""
    return session.scalars(select(User).order_by(User.name, User.id)).all()


def any_users(session: Session) -> bool:
    """Whether there is any account."""
    return session.scalar(select(User.id).limit(1)) is not None


def demo_users(session: Session) -> Sequence[User]:
    """Return the demo's people who can still sign in, in creation order."""
    statement = select(User).where(User.demo, User.disabled_at.is_(None)).order_by(User.id)
    return session.scalars(statement).all()


@dataclass(frozen=True, slots=True)
class Account:
    """A person as needed by each request: identity, and whether they may sign in."""

    id: int
    email: str
    name: str
    role: Role
    demo: bool
    disabled_at: datetime | None


@dataclass(frozen=True, slots=True)
class Bearer:
    """A token that was sent, and its owner."""

    token_id: int
    last_used_at: datetime | None
    scope: Scope
    expires_at: datetime | None
    user: Account


_ACCOUNT = select(User.id, User.email, User.name, User.role, User.demo, User.disabled_at).where(
    User.id == bindparam("user_id"), User.session_version == bindparam("version")
)


def account_of(session: Session, user_id: int, version: int) -> Account | None:
    """Return the person, if their session version is still ``version``."""
    whose = {"user_id": user_id, "version": version}
    found = connection_of(session).execute(_ACCOUNT, whose).one_or_none()
    return None if found is None else Account(*found)

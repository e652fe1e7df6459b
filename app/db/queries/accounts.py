"""Select statements about people, tokens and failed sign-ins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.db.engine import connection_of
from app.db.models import ApiToken, SignInAttempt, User
from app.domain.words import Role


def user_by_email(session: Session, email: str) -> User | None:
    """The person with this e-mail address, in whatever case it is written."""
    return session.scalars(select(User).where(User.email == email.strip().lower())).one_or_none()


def all_users(session: Session) -> Sequence[User]:
    """Everyone, by name."""
    return session.scalars(select(User).order_by(User.name, User.id)).all()


def demo_users(session: Session) -> Sequence[User]:
    """The demo's people that can still sign in, in the order they were made."""
    statement = select(User).where(User.demo, User.disabled_at.is_(None)).order_by(User.id)
    return session.scalars(statement).all()


def active_admins(session: Session) -> int:
    """How many administrators can still sign in."""
    statement = select(func.count(User.id)).where(
        User.role == Role.ADMIN, User.disabled_at.is_(None)
    )
    return session.scalars(statement).one()


@dataclass(frozen=True, slots=True)
class Account:
    """A person as a request has to know them: who they are, and whether they may come in."""

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
    user: Account


# Built once: it runs with every request of a program.
_VALID_TOKEN = (
    select(
        ApiToken.id,
        ApiToken.last_used_at,
        User.id,
        User.email,
        User.name,
        User.role,
        User.demo,
        User.disabled_at,
    )
    .join(User, User.id == ApiToken.user_id)
    .where(ApiToken.token_hash == bindparam("token_hash"), ApiToken.revoked_at.is_(None))
)


def token_with_user(session: Session, token_hash: str) -> Bearer | None:
    """The token that is still valid under this hash, with its owner."""
    found = connection_of(session).execute(_VALID_TOKEN, {"token_hash": token_hash}).one_or_none()
    return None if found is None else Bearer(found[0], found[1], Account(*found[2:]))


_ACCOUNT = select(User.id, User.email, User.name, User.role, User.demo, User.disabled_at).where(
    User.id == bindparam("user_id"), User.session_version == bindparam("version")
)


def account_of(session: Session, user_id: int, version: int) -> Account | None:
    """The person, if their sign-ins still have this version."""
    whose = {"user_id": user_id, "version": version}
    found = connection_of(session).execute(_ACCOUNT, whose).one_or_none()
    return None if found is None else Account(*found)


def failures(
    session: Session, by: InstrumentedAttribute[str], value: str, since: datetime
) -> tuple[int, datetime | None]:
    """How many sign-ins failed since then, and when the last one did, by e-mail or by address."""
    statement = select(SignInAttempt.at).where(by == value, SignInAttempt.at > since)
    times = session.scalars(statement).all()
    return len(times), max(times, default=None)

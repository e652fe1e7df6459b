"""Select statements about people, tokens and failed sign-ins."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import ApiToken, SignInAttempt, User
from topkapi.app.domain.enums import Role, Scope


def user_by_email(session: Session, email: str) -> User | None:
    """Return the person with this e-mail address, ignoring case."""
    return session.scalars(select(User).where(User.email == email.strip().lower())).one_or_none()


def user_by_openid(session: Session, openid: str) -> User | None:
    """Return the person with this issuer and subject."""
    return session.scalar(select(User).where(User.openid == openid))


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


def lock_active_admins(session: Session) -> Sequence[int]:
    """Lock the administrators who can still sign in until the transaction ends; return their ids.

    Otherwise two administrators who demote each other at once would each count the other. The lock
    (``FOR NO KEY UPDATE``) lets others refer to the rows; on SQLite there is only one writer
    anyway.
    """
    statement = (
        select(User.id)
        .where(User.role == Role.ADMIN, User.disabled_at.is_(None))
        .order_by(User.id)
        .with_for_update(key_share=True)
    )
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


# Built once: it runs with every API request.
_VALID_TOKEN = (
    select(
        ApiToken.id,
        ApiToken.last_used_at,
        ApiToken.scope,
        ApiToken.expires_at,
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
    """Return the token with this hash unless it is revoked, with its owner."""
    found = connection_of(session).execute(_VALID_TOKEN, {"token_hash": token_hash}).one_or_none()
    return None if found is None else Bearer(*found[:4], Account(*found[4:10]))


_ACCOUNT = select(User.id, User.email, User.name, User.role, User.demo, User.disabled_at).where(
    User.id == bindparam("user_id"), User.session_version == bindparam("version")
)


def account_of(session: Session, user_id: int, version: int) -> Account | None:
    """Return the person, if their session version is still ``version``."""
    whose = {"user_id": user_id, "version": version}
    found = connection_of(session).execute(_ACCOUNT, whose).one_or_none()
    return None if found is None else Account(*found)


def attempts(
    session: Session, email: str, source: str, since: datetime
) -> set[tuple[str, str, datetime]]:
    """Return sign-in attempts since then for this person or source: e-mail, source, time."""
    statement = select(SignInAttempt.email, SignInAttempt.address, SignInAttempt.at).where(
        SignInAttempt.at > since,
        or_(SignInAttempt.email == email, SignInAttempt.address == source),
    )
    return {(row[0], row[1], row[2]) for row in session.execute(statement)}

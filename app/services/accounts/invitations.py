"""One-time links with which people accept an invitation or reset their password."""

import hmac
import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session, joinedload

from topkapi.app.db.base import now
from topkapi.app.db.models import Invitation, User
from topkapi.app.db.queries.accounts.accounts import any_users
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import BadToken, Conflict, Forbidden
from topkapi.app.services import audit
from topkapi.app.services.accounts import tokens, users
from topkapi.app.services.accounts.passwords import hash_password
from topkapi.app.services.accounts.tokens import hash_token
from topkapi.app.services.accounts.users import create_user

LIFETIME = timedelta(days=7)
_GONE = (
    "This link is not valid: it was already used, is older than 7 days, or was replaced. "
    "Ask the person who sent it for a new one."
)


def invite(
    session: Session, *, email: str, name: str, role: Role, actor_id: int | None = None
) -> tuple[User, str]:
    """Create an account without a password, and a link for its owner to set one."""
    user = users.create_user(session, email=email, name=name, role=role, actor_id=actor_id)
    return user, new_link(session, user, actor_id=actor_id)


def new_link(session: Session, user: User, *, actor_id: int | None = None) -> str:
    """Create a link, revoke the person's older unused links, and return the new token.

    Only the hash is stored, so the token cannot be returned again.
    """
    if user.disabled_at is not None:
        raise Conflict(f"{user.email} is disabled. Enable the account first.")
    session.execute(
        delete(Invitation).where(Invitation.user_id == user.id, Invitation.used_at.is_(None))
    )
    token = secrets.token_urlsafe(32)
    at = now()
    link = Invitation(
        user_id=user.id, token_hash=hash_token(token), created_at=at, expires_at=at + LIFETIME
    )
    session.add(link)
    session.flush()
    purpose = "reset" if user.password_hash else "invite"
    audit.record(session, actor_id, f"user.{purpose}", user.email, link=link.id)
    return token


def owner_of(session: Session, token: str, at: datetime | None = None) -> User:
    """Return the owner of a link; refuse a link that is no longer valid."""
    return _link(session, token, at or now()).user


def accept(
    session: Session, token: str, *, name: str, password: str, at: datetime | None = None
) -> User:
    """Accept an invitation: set name and password, consume the link, revoke older sessions.

    If the account already had a password (a reset), its API tokens are revoked too.
    """
    at = at or now()
    link = _link(session, token, at)
    user = link.user
    is_reset = user.password_hash is not None
    user.name = users.checked_name(name)
    user.password_hash = hash_password(password, user.email, user.name)
    used = session.scalar(
        update(Invitation)
        .where(Invitation.id == link.id, Invitation.used_at.is_(None))
        .values(used_at=at)
        .returning(Invitation.id)
    )
    if used is None:  # a concurrent request has used the same link
        raise BadToken(_GONE)
    users.end_sessions(user)
    revoked = tokens.revoke_all(session, user, actor_id=user.id) if is_reset else 0
    audit.record(session, user.id, "user.accept", user.email, link=link.id, tokens_revoked=revoked)
    session.flush()
    return user


def _link(session: Session, token: str, at: datetime) -> Invitation:
    """Return a valid link with its owner, or refuse it."""
    statement = (
        select(Invitation)
        .options(joinedload(Invitation.user))
        .where(
            Invitation.token_hash == hash_token(token),
            Invitation.used_at.is_(None),
            Invitation.expires_at > at,
        )
    )
    link = session.scalar(statement)
    if link is None:
        raise BadToken(_GONE)
    if link.user.disabled_at is not None:
        raise Forbidden("This account is disabled. Ask the person who invited you.")
    return link


def first_code(secret: str) -> str:
    """Return the code that the terminal of the server shows; it works while there is no account."""
    return hmac.new(secret.encode(), b"first administrator", sha256).hexdigest()[:32]


def refuse_code(session: Session, secret: str, code: str) -> None:
    """Raise unless the code is right and there is no account yet."""
    if any_users(session) or not hmac.compare_digest(first_code(secret).encode(), code.encode()):
        raise BadToken(
            "This link is not valid: the first administrator exists, or the server that printed "
            "it had another secret. Sign in, or ask an administrator for an invitation."
        )


def create_first(
    session: Session, secret: str, code: str, *, email: str, name: str, password: str
) -> User:
    """Create the first administrator, once."""
    refuse_code(session, secret, code)
    return create_user(session, email=email, name=name, role=Role.ADMIN, password=password)

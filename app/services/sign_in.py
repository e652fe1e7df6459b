"""Signing in: throttled, and as slow for an unknown address as for a known one."""

from dataclasses import dataclass
from datetime import datetime

from app.db.base import now
from app.db.engine import Sessions
from app.db.models import User
from app.db.queries import accounts as queries
from app.db.queries.accounts import Account
from app.domain.errors import Forbidden, WrongCredentials
from app.services import passwords, throttling

DEMO_ELSEWHERE = (
    "This account belongs to the demo. It works only in a browser on the machine that runs Topkapi."
)


@dataclass(frozen=True, slots=True)
class Visitor:
    """Where a try comes from: the network address, and whether it is this very machine."""

    address: str
    on_loopback: bool


def sign_in(
    sessions: Sessions, email: str, password: str, visitor: Visitor, at: datetime | None = None
) -> User:
    """The person behind ``email`` and ``password``.

    Three steps, because a failed try has to stay counted and because hashing takes long: no
    transaction is open while the password is checked.
    """
    email = email.strip().lower()
    with sessions.write.begin() as session:
        left = throttling.count_attempt(session, email, visitor.address, at or now())
        user = queries.user_by_email(session, email)
    if not passwords.matches(user.password_hash if user else None, password) or user is None:
        raise WrongCredentials(
            f"The address or the password is not right. {throttling.tries_left_sentence(left)}"
        )
    refuse_unusable(user, visitor)
    _welcome(sessions, user, password)
    return user


def refuse_unusable(user: User | Account, visitor: Visitor) -> None:
    """Refuse an account that was disabled, and a demo account from another machine."""
    if user.disabled_at is not None:
        raise Forbidden("This account is disabled. Ask the person who invited you.")
    if user.demo and not visitor.on_loopback:
        raise Forbidden(DEMO_ELSEWHERE)


def _welcome(sessions: Sessions, user: User, password: str) -> None:
    """Forget the failed tries, and hash anew if today's cost is higher."""
    assert user.password_hash is not None
    outdated = passwords.is_outdated(user.password_hash)
    fresh = passwords.HASHER.hash(password) if outdated else user.password_hash
    with sessions.write.begin() as session:
        throttling.forget_attempts(session, user.email)
        if outdated:
            session.get_one(User, user.id).password_hash = fresh

"""Signing in: throttled, and as slow for an unknown address as for a known one.

Nothing here waits for a database lock: accounts are only read, and all writes are late writes. Only
a one-time code is marked as used at once, because another worker must not accept it again, and the
first sign-in at an OpenID provider links the account.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, update

from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts import accounts as queries
from topkapi.app.db.queries.accounts.accounts import Account
from topkapi.app.domain.errors import CodeNeeded, Forbidden, Invalid, WrongCredentials
from topkapi.app.services import audit
from topkapi.app.services.accounts import passwords
from topkapi.app.services.accounts.oidc import Identity
from topkapi.app.services.accounts.throttling import (
    AllowedAttempt,
    Throttle,
    remaining_sentence,
    source_of,
)
from topkapi.app.services.accounts.totp import Codes, use_recovery_code, use_step
from topkapi.app.services.accounts.users import link_openid
from topkapi.app.services.late_writes import LateWrite, LateWrites

DEMO_ELSEWHERE = (
    "This account belongs to the demo. It works only in a browser on the machine that runs Topkapi."
)


@dataclass(frozen=True, slots=True)
class Device:
    """A browser with our device cookie, and the users who have signed in there."""

    id: str
    user_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Visitor:
    """The origin of an attempt: its network address, and whether it is this machine."""

    address: str
    on_loopback: bool


class Authenticator:
    """Verifies passwords for one process."""

    def __init__(self, sessions: Sessions, late: LateWrites, codes: Codes) -> None:
        self._sessions = sessions
        self._late = late
        self._codes = codes
        self._throttle = Throttle(sessions, late)

    def sign_in(
        self,
        email: str,
        password: str,
        visitor: Visitor,
        device: Device | None = None,
        at: datetime | None = None,
        *,
        code: str = "",
    ) -> User:
        """Return the user with this ``email`` and ``password``, and one-time code, or refuse.

        No transaction is open while the password is verified, because hashing is slow.
        """
        email = email.strip().lower()
        with self._sessions.read() as session:
            user = queries.user_by_email(session, email)
        counted = self._count(email, user, visitor, device, at)
        if not passwords.matches(user.password_hash if user else None, password) or user is None:
            left = remaining_sentence(counted.remaining)
            if user is not None:
                audit.record_late(self._late, None, "user.refuse", user.email)
            raise WrongCredentials(f"The e-mail address or the password is incorrect. {left}")
        refuse_unusable(user, visitor)
        self._check_code(user, code, counted.remaining, at or now())
        self._throttle.forget(counted.attempt)
        self._renew_hash(user, password)
        audit.record_late(self._late, user.id, "user.sign_in", user.email)
        return user

    def sign_in_elsewhere(self, person: Identity, visitor: Visitor) -> User:
        """Return the user whom an OpenID provider has identified, or refuse.

        The provider asks for passwords and codes, in its own way. The first sign-in links the
        account, found by its address, to the person; later ones are those of the linked person.
        """
        with self._sessions.read() as session:
            user = session.scalar(select(User).where(User.openid == person.openid))
            user = user or queries.user_by_email(session, person.email)
        if user is None or user.machine:
            raise Forbidden(
                f"{person.email} has no account here. Ask an administrator to invite you."
            )
        refuse_unusable(user, visitor)
        if user.openid != person.openid:
            with self._sessions.write.begin() as session:
                user = link_openid(session, user, person.openid)
        audit.record_late(self._late, user.id, "user.sign_in", user.email)
        return user

    def confirm(
        self,
        email: str,
        password: str,
        visitor: Visitor,
        device: Device | None = None,
        at: datetime | None = None,
    ) -> None:
        """Check the password of somebody who is signed in; attempts count as sign-ins do."""
        with self._sessions.read() as session:
            user = queries.user_by_email(session, email)
        counted = self._count(email, user, visitor, device, at)
        if not passwords.matches(user.password_hash if user else None, password):
            left = remaining_sentence(counted.remaining)
            raise Invalid(f"The current password is incorrect. {left}", field="current")
        self._throttle.forget(counted.attempt)

    def _count(
        self,
        email: str,
        user: User | None,
        visitor: Visitor,
        device: Device | None,
        at: datetime | None,
    ) -> AllowedAttempt:
        known = device is not None and user is not None and user.id in device.user_ids
        source = source_of(visitor.address, device.id if device and known else None)
        return self._throttle.count(email, source, at or now())

    def _check_code(self, user: User, code: str, remaining: int, at: datetime) -> None:
        """Refuse a wrong one-time code, or one that was used, if the account asks for codes."""
        if user.totp_salt is None:
            return
        if not code.strip():
            raise CodeNeeded(
                "Enter your password again, and the one-time code of your authenticator app or a "
                "recovery code."
            )
        step = self._codes.step_of(user.id, user.totp_salt, code, at)
        if step is not None or not code.strip().isdecimal():
            with self._sessions.write.begin() as session:
                if step is None and use_recovery_code(session, user, code):
                    return
                if step is not None and use_step(session, user.id, step):
                    return
        audit.record_late(self._late, None, "user.refuse_code", user.email)
        used = "was used already; wait for the next one" if step else "is incorrect"
        raise CodeNeeded(f"The one-time code {used}. {remaining_sentence(remaining)}")

    def _renew_hash(self, user: User, password: str) -> None:
        """Rehash an outdated hash, unless the password is changed meanwhile."""
        assert user.password_hash is not None
        if passwords.is_outdated(user.password_hash):
            same = (User.id == user.id, User.password_hash == user.password_hash)
            fresh = passwords.HASHER.hash(password)
            statement = update(User).where(*same).values(password_hash=fresh)
            self._late.add(("hash", user.id), LateWrite(statement))


def refuse_unusable(user: User | Account, visitor: Visitor) -> None:
    """Refuse a disabled account, and a demo account from another machine."""
    if user.disabled_at is not None:
        raise Forbidden("This account is disabled. Ask the person who invited you.")
    if user.demo and not visitor.on_loopback:
        raise Forbidden(DEMO_ELSEWHERE)

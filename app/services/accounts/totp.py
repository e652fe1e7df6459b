"""One-time codes at sign-in (TOTP, RFC 6238), with an authenticator app.

The database has only a salt: the secret is derived from it and the server's secret file, so that a
stolen database gives no codes.
"""

import hmac
from base64 import b32encode
from datetime import datetime, timedelta
from secrets import token_bytes
from textwrap import wrap

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import RecoveryCode, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services import audit
from topkapi.app.services.accounts.tokens import hash_token

RECOVERY_CODES, _CODE_BYTES = 10, 10
_MISREAD = str.maketrans("01", "ol")  # digits that Base32 lacks
SECONDS = 30  # that a code is shown; the one before and the one after are accepted too


class Codes:
    """Secrets and codes of this server's accounts."""

    def __init__(self, secret: str) -> None:
        self._key = secret.encode()

    def secret_of(self, user_id: int, salt: str) -> str:
        """Return the secret of an account in Base32, as authenticator apps take it."""
        message = f"totp:{user_id}:{salt}".encode()
        return b32encode(hmac.digest(self._key, message, "sha256")[:20]).decode()

    def address_of(self, user: User, salt: str) -> str:
        """Return the otpauth address with which an authenticator app adds the account."""
        from pyotp import TOTP

        secret = self.secret_of(user.id, salt)
        return TOTP(secret).provisioning_uri(user.email, issuer_name="Topkapi")

    def step_of(self, user_id: int, salt: str, code: str, at: datetime) -> int | None:
        """Return the time step that the code belongs to; None if it is wrong."""
        from pyotp import TOTP

        totp, typed = TOTP(self.secret_of(user_id, salt)), "".join(code.split()).encode()
        for offset in (-1, 0, 1):
            moment = at + timedelta(seconds=offset * SECONDS)
            if hmac.compare_digest(totp.at(moment).encode(), typed):
                return int(moment.timestamp()) // SECONDS
        return None

    def turn_on(self, session: Session, user: User, salt: str, code: str) -> list[str]:
        """Ask for codes from the next sign-in on, and return recovery codes.

        ``code`` proves that the app has the secret.
        """
        if user.role is not Role.ADMIN:
            raise Conflict("One-time codes are for administrators.")
        step = self.step_of(user.id, salt, code, now())
        if step is None or not 16 <= len(salt) <= 64:
            raise Invalid("That code is wrong or has expired.", field="code")
        user.totp_salt, user.totp_step = salt, step
        audit.record(session, user.id, "user.totp_on", user.email)
        return renew_recovery_codes(session, user)


def use_step(session: Session, user_id: int, step: int) -> bool:
    """Mark a time step as used, for all workers; return False if it or a later one was used."""
    unused = or_(User.totp_step.is_(None), User.totp_step < step)
    statement = update(User).where(User.id == user_id, unused).values(totp_step=step)
    return session.scalar(statement.returning(User.id)) is not None


def renew_recovery_codes(session: Session, user: User) -> list[str]:
    """Replace the recovery codes of an account; return the new ones, which cannot be shown again.

    A code has 80 random bits, so that its hash can be stored without a salt or a key.
    """
    if user.totp_salt is None:
        raise Conflict("One-time codes are off; turn them on first.")
    codes = [b32encode(token_bytes(_CODE_BYTES)).decode().lower() for _ in range(RECOVERY_CODES)]
    session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
    session.add_all(RecoveryCode(user_id=user.id, code_hash=hash_token(code)) for code in codes)
    session.flush()
    audit.record(session, user.id, "user.recovery_codes", user.email)
    return ["-".join(wrap(code, 4)) for code in codes]


def use_recovery_code(session: Session, user: User, typed: str) -> bool:
    """Use up a recovery code, however it is spaced; return False if it is wrong or used."""
    code = "".join(filter(str.isalnum, typed.lower())).translate(_MISREAD)
    statement = delete(RecoveryCode).where(
        RecoveryCode.user_id == user.id, RecoveryCode.code_hash == hash_token(code)
    )
    if session.scalar(statement.returning(RecoveryCode.id)) is None:
        return False
    left = recovery_codes_left(session, user.id)
    audit.record(session, user.id, "user.use_recovery_code", user.email, left=left)
    return True


def recovery_codes_left(session: Session, user_id: int) -> int:
    """Return how many recovery codes of an account are unused."""
    return session.scalar(select(func.count()).where(RecoveryCode.user_id == user_id)) or 0


def turn_off(session: Session, user: User, *, actor_id: int | None = None) -> None:
    """Sign in with the password alone again; recovery codes are gone."""
    if user.totp_salt is not None:
        session.execute(delete(RecoveryCode).where(RecoveryCode.user_id == user.id))
        user.totp_salt = user.totp_step = None
        audit.record(session, actor_id, "user.totp_off", user.email)

"""Slows down guessing of passwords. The counts are in the database, so all workers share them."""

from datetime import datetime, timedelta
from math import ceil

from sqlalchemy import delete, text
from sqlalchemy.orm import Session

from app.db.models import SignInAttempt
from app.db.queries import accounts as queries
from app.domain.errors import TooManyAttempts

TRIES_PER_EMAIL = 5
TRIES_PER_ADDRESS = 30  # a whole office may share one
WINDOW = timedelta(minutes=15)
WAIT = timedelta(minutes=1)
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def count_attempt(session: Session, email: str, address: str, at: datetime) -> int:
    """Count a try before its password is looked at; return how many are left, or refuse it.

    Counting first means that many tries at once are no way around the limit.
    """
    _one_at_a_time(session)
    session.execute(delete(SignInAttempt).where(SignInAttempt.at <= at - WINDOW))
    left = min(
        _tries_left(session, email, address, at, by_email=True),
        _tries_left(session, email, address, at, by_email=False),
    )
    session.add(SignInAttempt(email=email[:254], address=address[:64], at=at))
    return left


def forget_attempts(session: Session, email: str) -> None:
    """Forget the failures of someone who has signed in after all."""
    session.execute(delete(SignInAttempt).where(SignInAttempt.email == email[:254]))


def tries_left_sentence(left: int) -> str:
    """What to say about the tries that are left."""
    if left <= 0:
        return "Wait one minute before the next try."
    number = _NUMBERS[left] if left < len(_NUMBERS) else str(left)
    return f"{number} more {'try' if left == 1 else 'tries'}, then a wait of one minute."


def _tries_left(session: Session, email: str, address: str, at: datetime, *, by_email: bool) -> int:
    column = SignInAttempt.email if by_email else SignInAttempt.address
    value = email[:254] if by_email else address[:64]
    limit = TRIES_PER_EMAIL if by_email else TRIES_PER_ADDRESS
    count, last = queries.failures(session, column, value, at - WINDOW)
    if count >= limit and last is not None and at < last + WAIT:
        seconds = max(1, ceil((last + WAIT - at).total_seconds()))
        raise TooManyAttempts(
            f"Too many tries. Wait {seconds} second{'s' if seconds > 1 else ''}, then try again.",
            wait_seconds=seconds,
        )
    return max(0, limit - count - 1)


def _one_at_a_time(session: Session) -> None:
    """On SQLite a writer is alone; on PostgreSQL two tries must not count past each other."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text("LOCK TABLE sign_in_attempts IN SHARE ROW EXCLUSIVE MODE"))

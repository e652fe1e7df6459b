"""Passwords: hashed with argon2, and checked in the same time whether or not the person exists."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from app.domain.errors import Invalid

HASHER = PasswordHasher()
SHORTEST = 10
LONGEST = 1000  # argon2 reads it all: no one may make it read megabytes


def hash_password(password: str) -> str:
    """The hash to store; a password that is too short or too long is refused."""
    if len(password) < SHORTEST:
        raise Invalid(f"Use a password of at least {SHORTEST} characters.", field="password")
    if len(password) > LONGEST:
        raise Invalid(f"Use a password of at most {LONGEST} characters.", field="password")
    return HASHER.hash(password)


def matches(stored: str | None, password: str) -> bool:
    """Whether ``password`` is the one behind ``stored``; without one the work is still done."""
    try:
        return HASHER.verify(stored or _of_nobody(), password[:LONGEST]) and stored is not None
    except (VerifyMismatchError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Whether ``stored`` was made at a lower cost than today's, so that it should be made anew."""
    return HASHER.check_needs_rehash(stored)


_nobody: dict[int, str] = {}


def _of_nobody() -> str:
    """A hash no password is known for, made once for the hasher in use."""
    if id(HASHER) not in _nobody:
        _nobody[id(HASHER)] = HASHER.hash(
            "the password of nobody, checked so that time tells nothing"
        )
    return _nobody[id(HASHER)]

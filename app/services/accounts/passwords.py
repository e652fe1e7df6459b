"""Passwords: hashed with argon2, and checked in the same time whether or not the person exists."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from topkapi.app.services.accounts.password_rules import LONGEST, check_password

HASHER = PasswordHasher()


def hash_password(password: str, *about: str) -> str:
    """The hash to store; a password that is weak for who knows ``about`` its owner is refused."""
    check_password(password, about)
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

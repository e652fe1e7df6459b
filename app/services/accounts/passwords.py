"""Passwords: hashed with argon2, and verified in the same time for unknown accounts."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from topkapi.app.services.accounts.password_rules import LONGEST, check_password

HASHER = PasswordHasher()


def hash_password(password: str, *about: str) -> str:
    """Return the hash to store; refuse a password that is weak given ``about`` its owner."""
    check_password(password, about)
    return HASHER.hash(password)


def matches(stored: str | None, password: str) -> bool:
    """Return whether ``password`` matches the hash ``stored``.

    Without a stored hash a dummy is verified, so that timing does not reveal missing accounts.
    """
    try:
        return HASHER.verify(stored or _dummy_hash(), password[:LONGEST]) and stored is not None
    except (VerifyMismatchError, InvalidHashError):
        return False


def is_outdated(stored: str) -> bool:
    """Return whether ``stored`` needs a rehash because it was made with outdated parameters."""
    return HASHER.check_needs_rehash(stored)


_dummy_hashes: dict[int, str] = {}


def _dummy_hash() -> str:
    """Return a hash that belongs to no account, computed once per hasher."""
    if id(HASHER) not in _dummy_hashes:
        _dummy_hashes[id(HASHER)] = HASHER.hash(
            "the password of nobody, checked so that time tells nothing"
        )
    return _dummy_hashes[id(HASHER)]

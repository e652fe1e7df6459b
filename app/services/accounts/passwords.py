"""Passwords: rules for new ones, and hashes that are verified in equal time for all accounts."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from topkapi.app.domain.errors import Invalid

SHORTEST = 10
LONGEST = 1000  # argon2 hashes all of it, so megabytes must be refused
LEAST_LEFT = 6  # minimum score: characters that are not guessable
_CHECKED_LENGTH = 128  # leading characters that are scored; more cannot make a password weak
_WORD_SCORE = 2  # characters
_COMMON = """
    password passwort passwd pass motdepasse contrasena senha parola wachtwoord salasana geheim
    secret
    welcome willkommen bienvenue letmein login logon access account admin administrator root guest
    user test testing demo changeme change default temp temporary master super system server qwerty
    qwertz azerty 1q2w3e4r5t 1q2w3e4r q1w2e3r4t5 1qaz2wsx3edc 1qaz2wsx qazwsx zaq12wsx iloveyou
    love lovely mylove forever always sunshine princess monkey dragon football baseball basketball
    soccer hockey cricket liverpool arsenal chelsea barcelona juventus manchester superman batman
    spiderman pokemon naruto starwars matrix shadow hunter killer master ninja soldier ranger tiger
    tigger eagle flower summer winter spring autumn january february march april june july august
    september october november december monday tuesday wednesday thursday friday saturday sunday
    hello please freedom whatever nothing trustno michael jordan jessica ashley daniel charlie
    thomas robert jennifer george andrew nicole joshua computer internet samsung google facebook
    microsoft apple chocolate cookie butterfly purple orange yellow silver golden diamond angel
    jesus christ heaven blessed family mother father sister brother baby babygirl honey sweet
    topkapi assessor research researcher study label labels labeling university institute
"""
_ROWS = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiop",
)
_STEPS = frozenset(
    row[index : index + 3]
    for each in _ROWS
    for row in (each, each[::-1])
    for index in range(len(row) - 2)
)
_REPEATED = re.compile(r"(.{1,4}?)\1+")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LEET = str.maketrans("@4310!$57", "aaeioisst")
_MARKS = 0xF0000  # first placeholder: a private-use character that no text contains
_HINT = "Use a few words that are unrelated to you and to each other."


def check_password(password: str, about: Iterable[str] = ()) -> None:
    """Refuse a password that is too short, too long, or easy to guess.

    ``about`` holds facts about its owner, such as name and e-mail address.
    """
    if len(password) < SHORTEST:
        raise _refusal(f"Use a password of at least {SHORTEST} characters.")
    if len(password) > LONGEST:
        raise _refusal(f"Use a password of at most {LONGEST} characters.")
    facts = [fact for text in about for fact in (text, text.split("@")[0])]
    if any(_contains(password, fact) for fact in facts):
        raise _refusal(f"Leave your name and your e-mail address out of the password. {_HINT}")
    if _score(password, facts) < LEAST_LEFT:
        raise _refusal(f"This password is too easy to guess. {_HINT}")


def _contains(password: str, fact: str) -> bool:
    wanted = _letters(fact)
    return len(wanted) >= 4 and wanted in _letters(password)


def _score(password: str, facts: Iterable[str]) -> int:
    """Count the unguessable characters; take the lower count with and without "leet" letters."""
    plain = _folded(password[:_CHECKED_LENGTH])
    own = chain.from_iterable(re.split(r"[\W_]+", _folded(fact)) for fact in facts)
    words = {*_COMMON.split(), *(word for word in own if len(word) >= 3)}
    readings = (plain, plain.translate(_LEET))
    return min(_weight(_without_patterns(_marked(reading, words))) for reading in readings)


def _marked(text: str, words: Iterable[str]) -> str:
    """Replace each of ``words`` in the text by a placeholder, the longest first."""
    marks = {word: chr(_MARKS + index) for index, word in enumerate(sorted(words))}
    longest_first = sorted(marks, key=len, reverse=True)
    return re.sub("|".join(map(re.escape, longest_first)), lambda found: marks[found[0]], text)


def _without_patterns(text: str) -> str:
    covered = {i + j for i in range(len(text)) if text[i : i + 3] in _STEPS for j in range(3)}
    text = "".join(" " if index in covered else char for index, char in enumerate(text))
    return _REPEATED.sub(r"\1", _YEAR.sub(" ", text))


def _weight(text: str) -> int:
    return sum(_WORD_SCORE if ord(char) >= _MARKS else char.isalnum() for char in text)


def _letters(text: str) -> str:
    return "".join(char for char in _folded(text) if char.isalnum())


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _refusal(message: str) -> Invalid:
    return Invalid(message, field="password")


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

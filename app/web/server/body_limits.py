"""How large the body of a request may be, by its path: small unless a rule says otherwise."""

import re
from dataclasses import dataclass

from topkapi.app.services.assignments.csv_file import MOST_BYTES as MOST_CSV
from topkapi.app.services.importing.sources.limits import MAX_UNPACKED

KB = 1024
FORM_ROOM = 1024 * KB  # what a form adds to its file
VISITOR_PATHS = ("/sign-in", "/invitations/")


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """The most bytes of a body, and the seconds within which it has to arrive.

    ``needs_admin``: an administrator is found in the database before the body is read, and the
    body is then handed on as it arrives instead of being gathered in memory.
    """

    most_bytes: int
    seconds: float = 15.0
    needs_admin: bool = False


VISITOR = BodyLimit(32 * KB, seconds=10.0)
DEFAULT = BodyLimit(256 * KB)
_STUDY = BodyLimit(MAX_UNPACKED + FORM_ROOM, seconds=3600.0, needs_admin=True)
_CSV = BodyLimit(MOST_CSV + FORM_ROOM, seconds=300.0, needs_admin=True)
_LONG_TEXT = BodyLimit(4096 * KB, seconds=60.0, needs_admin=True)
_RULES = (
    (re.compile(r"/imports|/api/v1/studies"), _STUDY),
    (re.compile(r"/studies/[^/]+/assign/csv|/api/v1/studies/[^/]+/assignments/csv"), _CSV),
    (re.compile(r"/studies/[^/]+/guidelines|/api/v1/studies/[^/]+(/rotation)?"), _LONG_TEXT),
)


def limit_of(path: str) -> BodyLimit:
    """The limit for requests to ``path``."""
    if is_for_visitors(path):
        return VISITOR
    return next((limit for pattern, limit in _RULES if pattern.fullmatch(path)), DEFAULT)


def is_for_visitors(path: str) -> bool:
    """Whether people who are not signed in write there."""
    return path.startswith(VISITOR_PATHS)

"""Limits on the body of a request, by path: small unless a rule allows more."""

import re
from dataclasses import dataclass

from topkapi.app.services.assignments.csv_file import MOST_BYTES as MOST_CSV
from topkapi.app.services.fence.limits import MAX_UNPACKED
from topkapi.app.services.results.systems import MOST_BYTES as MOST_RUNS

KB = 1024
FORM_OVERHEAD = 1024 * KB  # bytes that a form adds to its file
VISITOR_PATHS = ("/sign-in", "/invitations/", "/first/", "/enter/")


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """Maximum size of a body in bytes, and the seconds within which it must arrive.

    ``needs_admin``: an administrator is authenticated in the database before the body is read, and
    the body is then streamed instead of being collected in memory.
    """

    most_bytes: int
    seconds: float = 15.0
    needs_admin: bool = False


VISITOR = BodyLimit(32 * KB, seconds=10.0)
DEFAULT = BodyLimit(256 * KB)
_STUDY = BodyLimit(MAX_UNPACKED + FORM_OVERHEAD, seconds=3600.0, needs_admin=True)
_CSV = BodyLimit(MOST_CSV + FORM_OVERHEAD, seconds=300.0, needs_admin=True)
_RUNS = BodyLimit(MOST_RUNS + FORM_OVERHEAD, seconds=600.0, needs_admin=True)
_LONG_TEXT = BodyLimit(4096 * KB, seconds=60.0, needs_admin=True)
_RULES = (
    (re.compile(r"/imports|/api/v1/studies"), _STUDY),
    (re.compile(r"/studies/[^/]+/assign/csv|/api/v1/studies/[^/]+/assignments/csv"), _CSV),
    (re.compile(r"(/api/v1)?/studies/[^/]+/systems"), _RUNS),
    (re.compile(r"/studies/[^/]+/guidelines|/api/v1/studies/[^/]+(/rotation)?"), _LONG_TEXT),
)


def limit_of(path: str) -> BodyLimit:
    """Return the limit for requests to ``path``."""
    if is_for_visitors(path):
        return VISITOR
    return next((limit for pattern, limit in _RULES if pattern.fullmatch(path)), DEFAULT)


def is_for_visitors(path: str) -> bool:
    """Return whether visitors who are not signed in may write to ``path``."""
    return path.startswith(VISITOR_PATHS)

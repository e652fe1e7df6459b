"""Slows down guessing of passwords, without letting a stranger lock the owner out.

Three limits, each of tries within 15 minutes; beyond a limit, one try per minute is let through:

- 5 as one person from one source,
- 30 from one network address, whoever they are for (a whole office may share one),
- 50 as one person from all unknown sources together.

A source is a network address or a known device: a browser in which this person has signed in
before, told by a signed cookie. A known device is held to the first limit alone, so tries from
elsewhere never slow it down (the device cookies of OWASP's guide to online guessing attacks).

The counts are in the database, where all workers see them. A try is counted in memory at once and
written late, so that nobody waits for a lock to sign in: until then a worker knows its own tries
only, and several workers together let through at most that many times the limit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from threading import Lock

from sqlalchemy import Delete, Insert, delete, insert

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import SignInAttempt
from topkapi.app.db.queries.accounts import accounts as queries
from topkapi.app.domain.errors import TooManyAttempts
from topkapi.app.services.late_writes import LateWrite, LateWrites

TRIES_PER_SOURCE = 5
TRIES_PER_ADDRESS = 30
TRIES_PER_EMAIL = 50
WINDOW = timedelta(minutes=15)
WAIT = timedelta(minutes=1)
_DEVICE = "device:"
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
Attempt = tuple[str, str, datetime]  # e-mail, source, time


@dataclass(frozen=True, slots=True)
class Counted:
    """A try that was let through, and how many more will be."""

    attempt: Attempt
    left: int


class Throttle:
    """Counts the tries of one process beside those in the database."""

    def __init__(self, sessions: Sessions, late: LateWrites) -> None:
        self._sessions = sessions
        self._late = late
        self._lock = Lock()
        self._unwritten: set[Attempt] = set()
        self._forgotten: dict[tuple[str, str], datetime] = {}

    def count(self, email: str, source: str, at: datetime) -> Counted:
        """Count a try before its password is looked at, or refuse it.

        Counting first means that many tries at once are no way around the limit.
        """
        email, source = email[:254], source[:64]
        with self._lock:
            known = self._known(email, source, at)
            limits = _limits(known, email, source)
            left = min(_tries_left(times, limit, at) for times, limit in limits)
            while (email, source, at) in known:  # a try is told from others by its time
                at += timedelta(microseconds=1)
            attempt = (email, source, at)
            self._unwritten.add(attempt)
        old = delete(SignInAttempt).where(SignInAttempt.at <= at - WINDOW)
        self._late.add("old attempts", LateWrite(old))
        write = LateWrite(_insert(attempt), lambda: self._written(attempt))
        self._late.add(attempt, write, urgent=True)
        return Counted(attempt, left)

    def forget(self, attempt: Attempt) -> None:
        """Forget the tries of a person who has signed in after all, from the same source."""
        email, source, at = attempt
        with self._lock:
            self._forgotten[email, source] = at
        write = LateWrite(_delete(attempt), lambda: self._deleted(attempt))
        self._late.add(("forget", email, source), write, urgent=True)

    def _known(self, email: str, source: str, at: datetime) -> set[Attempt]:
        with self._sessions.read() as session:
            stored = queries.attempts(session, email, source, at - WINDOW)
        own = {a for a in self._unwritten if email == a[0] or source == a[1]}
        times = (at - WINDOW, at + WAIT)  # later ones are from before the clock was set back
        recent = {a for a in stored | own if times[0] < a[2] <= times[1]}
        return {a for a in recent if not self._is_forgotten(a)}

    def _is_forgotten(self, attempt: Attempt) -> bool:
        until = self._forgotten.get(attempt[:2])
        return until is not None and attempt[2] <= until

    def _written(self, attempt: Attempt) -> None:
        with self._lock:
            self._unwritten.discard(attempt)

    def _deleted(self, attempt: Attempt) -> None:
        with self._lock:
            if self._forgotten.get(attempt[:2]) == attempt[2]:
                del self._forgotten[attempt[:2]]


def source_of(address: str, device: str | None) -> str:
    """Where a try comes from: a known device, or else a network (of IPv6, the usual 64 bits)."""
    if device is not None:
        return _DEVICE + device
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((ip, 64), strict=False)) if isinstance(ip, IPv6Address) else address


def tries_left_sentence(left: int) -> str:
    """What to say about the tries that are left."""
    if left <= 0:
        return "Wait one minute before the next try."
    number = _NUMBERS[left] if left < len(_NUMBERS) else str(left)
    return f"{number} more {'try' if left == 1 else 'tries'}, then a wait of one minute."


def _limits(known: set[Attempt], email: str, source: str) -> Iterable[tuple[list[datetime], int]]:
    """The times of the tries that count against each limit."""
    yield [a[2] for a in known if a[:2] == (email, source)], TRIES_PER_SOURCE
    if not source.startswith(_DEVICE):
        yield [a[2] for a in known if a[1] == source], TRIES_PER_ADDRESS
        strange = [a for a in known if a[0] == email and not a[1].startswith(_DEVICE)]
        yield [a[2] for a in strange], TRIES_PER_EMAIL


def _tries_left(times: list[datetime], limit: int, at: datetime) -> int:
    last = max(times, default=None)
    if len(times) >= limit and last is not None and at < last + WAIT:
        seconds = max(1, ceil((last + WAIT - at).total_seconds()))
        raise TooManyAttempts(
            f"Too many tries. Wait {seconds} second{'s' if seconds > 1 else ''}, then try again.",
            wait_seconds=seconds,
        )
    return max(0, limit - len(times) - 1)


def _insert(attempt: Attempt) -> Insert:
    email, source, at = attempt
    return insert(SignInAttempt).values(email=email, address=source, at=at)


def _delete(attempt: Attempt) -> Delete:
    email, source, at = attempt
    return delete(SignInAttempt).where(
        SignInAttempt.email == email, SignInAttempt.address == source, SignInAttempt.at <= at
    )

"""Throttling of password guessing that does not let a stranger lock the owner out.

There are three limits on attempts within 15 minutes; beyond a limit, one attempt per minute is
allowed:

- 5 for one account from one source,
- 30 from one network address for any accounts (a whole office may share an address),
- 50 for one account from all unknown sources together.

A source is a network address or a known device: a browser in which this person has signed in
before, identified by a signed cookie. A known device is subject to the first limit only, so
attempts from elsewhere never slow it down (the device cookies of OWASP's guide to online guessing
attacks).

The counts are in the database, where all workers see them. An attempt is counted in memory at once
and written late, so that no sign-in waits for a lock. Until then a worker knows only its own
attempts, so n workers together allow at most n times the limit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv6Address, ip_address, ip_network
from math import ceil
from threading import Lock

from sqlalchemy import Delete, Insert, delete, insert, or_, select
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import SignInAttempt
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
class AllowedAttempt:
    """An attempt that was allowed, and how many more are allowed."""

    attempt: Attempt
    remaining: int


class Throttle:
    """Counts the attempts of one process in addition to those in the database."""

    def __init__(self, sessions: Sessions, late: LateWrites) -> None:
        self._sessions = sessions
        self._late = late
        self._lock = Lock()
        self._unwritten: set[Attempt] = set()
        self._written_times = 0
        self._forgotten: dict[tuple[str, str], datetime] = {}

    def count(self, email: str, source: str, at: datetime) -> AllowedAttempt:
        """Count an attempt before its password is verified, or refuse it.

        Counting first means that concurrent attempts cannot get around the limit.
        """
        counted = None
        while counted is None:
            counted = self._count(email[:254], source[:64], at)
        attempt = counted.attempt
        old = delete(SignInAttempt).where(SignInAttempt.at <= at - WINDOW)
        self._late.add("old attempts", LateWrite(old))
        write = LateWrite(_insert(attempt), lambda: self._written(attempt))
        self._late.add(attempt, write, urgent=True)
        return counted

    def _count(self, email: str, source: str, at: datetime) -> AllowedAttempt | None:
        """Count an attempt; None if others were written since the database was read.

        The database is read without the lock, so that nobody waits for another one's read.
        """
        written = self._written_times
        with self._sessions.read() as session:
            stored = attempts(session, email, source, at - WINDOW)
        with self._lock:
            if written != self._written_times:
                return None
            known = self._known(stored, email, source, at)
            limits = _limits(known, email, source)
            remaining = min(_tries_remaining(times, limit, at) for times, limit in limits)
            while (email, source, at) in known:  # the time identifies an attempt
                at += timedelta(microseconds=1)
            self._unwritten.add((email, source, at))
        return AllowedAttempt((email, source, at), remaining)

    def forget(self, attempt: Attempt) -> None:
        """Forget the failed attempts from this source after a successful sign-in."""
        email, source, at = attempt
        with self._lock:
            self._forgotten[email, source] = at
        write = LateWrite(_delete(attempt), lambda: self._deleted(attempt))
        self._late.add(("forget", email, source), write, urgent=True)

    def _known(self, stored: set[Attempt], email: str, source: str, at: datetime) -> set[Attempt]:
        own = {a for a in self._unwritten if email == a[0] or source == a[1]}
        times = (at - WINDOW, at + WAIT)  # later ones were recorded before the clock was set back
        recent = {a for a in stored | own if times[0] < a[2] <= times[1]}
        return {a for a in recent if not self._is_forgotten(a)}

    def _is_forgotten(self, attempt: Attempt) -> bool:
        until = self._forgotten.get(attempt[:2])
        return until is not None and attempt[2] <= until

    def _written(self, attempt: Attempt) -> None:
        with self._lock:
            self._unwritten.discard(attempt)
            self._written_times += 1

    def _deleted(self, attempt: Attempt) -> None:
        with self._lock:
            if self._forgotten.get(attempt[:2]) == attempt[2]:
                del self._forgotten[attempt[:2]]
            self._written_times += 1


def source_of(address: str, device: str | None) -> str:
    """Return the source of an attempt: a known device, or else the network (/64 for IPv6)."""
    if device is not None:
        return _DEVICE + device
    try:
        ip = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((ip, 64), strict=False)) if isinstance(ip, IPv6Address) else address


def remaining_sentence(remaining: int) -> str:
    """Return the sentence about the attempts that are left."""
    if remaining <= 0:
        return "Wait one minute before the next attempt."
    number = _NUMBERS[remaining] if remaining < len(_NUMBERS) else str(remaining)
    return f"{number} attempt{'' if remaining == 1 else 's'} left before a wait of one minute."


def _limits(known: set[Attempt], email: str, source: str) -> Iterable[tuple[list[datetime], int]]:
    """Yield, for each limit, the times of the attempts that count against it."""
    yield [a[2] for a in known if a[:2] == (email, source)], TRIES_PER_SOURCE
    if not source.startswith(_DEVICE):
        yield [a[2] for a in known if a[1] == source], TRIES_PER_ADDRESS
        unknown = [a for a in known if a[0] == email and not a[1].startswith(_DEVICE)]
        yield [a[2] for a in unknown], TRIES_PER_EMAIL


def _tries_remaining(times: list[datetime], limit: int, at: datetime) -> int:
    last = max(times, default=None)
    if len(times) >= limit and last is not None and at < last + WAIT:
        seconds = max(1, ceil((last + WAIT - at).total_seconds()))
        raise TooManyAttempts(
            f"Too many attempts. Try again in {seconds} second{'s' if seconds > 1 else ''}.",
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


def attempts(
    session: Session, email: str, source: str, since: datetime
) -> set[tuple[str, str, datetime]]:
    """Return sign-in attempts since then for this person or source: e-mail, source, time."""
    statement = select(SignInAttempt.email, SignInAttempt.address, SignInAttempt.at).where(
        SignInAttempt.at > since,
        or_(SignInAttempt.email == email, SignInAttempt.address == source),
    )
    return {(row[0], row[1], row[2]) for row in session.execute(statement)}

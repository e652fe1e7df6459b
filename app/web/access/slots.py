"""Slots for database work: bounded FIFO queues.

A request waits for its slot without holding a thread. Otherwise many writers that wait for SQLite's
lock would take all threads, and the holder of the lock could not continue. A request that waits too
long, or finds the queue full, is refused with a request to retry, so no wait is unbounded.
"""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, WouldBlock, fail_after

from topkapi.app.web.common.busy import Busy

QUEUE_SECONDS = 3.5  # including the wait for a database lock, no request waits more than 5


class Lane:
    """A number of slots, and a bounded queue of requests that wait for one."""

    def __init__(self, slots: int, *, longest_queue: int) -> None:
        self.limiter = CapacityLimiter(slots)
        self._longest_queue = longest_queue

    @asynccontextmanager
    async def hold(self, before: float = 0.0) -> AsyncIterator[float]:
        """Hold a slot; yield the seconds spent waiting, with those ``before`` in another lane."""
        slot = object()
        waited = before + await self._acquire(slot, before)
        try:
            yield waited
        finally:
            self.limiter.release_on_behalf_of(slot)

    async def _acquire(self, slot: object, before: float) -> float:
        try:
            self.limiter.acquire_on_behalf_of_nowait(slot)
        except WouldBlock:
            return await self._wait(slot, before)
        return 0.0

    async def _wait(self, slot: object, before: float) -> float:
        if self.limiter.statistics().tasks_waiting >= self._longest_queue:
            raise Busy
        begin = time.monotonic()
        try:
            with fail_after(QUEUE_SECONDS - before):
                await self.limiter.acquire_on_behalf_of(slot)
        except TimeoutError:
            raise Busy from None
        return time.monotonic() - begin


class TransactionLimits:
    """The lanes of one process. Together they have fewer slots than its pool has connections.

    SQLite allows one writer at a time anyway; here writers queue in order of arrival. On PostgreSQL
    two suffice: most of an answer is Python, and more threads only compete for the interpreter.
    """

    def __init__(self, dialect: str) -> None:
        writers = 1 if dialect == "sqlite" else 2
        self.read = Lane(4, longest_queue=500)
        self.write = Lane(writers, longest_queue=500)
        self.computing = Lane(2, longest_queue=500)  # slow sorters, beside the transactions
        self.authentication = Lane(
            2, longest_queue=100
        )  # authentication: bad tokens delay only each other
        self.sign_in = Lane(2, longest_queue=50)  # each hashes a password
        self.health = Lane(1, longest_queue=10)
        self.export = Lane(2, longest_queue=8)
        self.download = Lane(8, longest_queue=8)  # files in transfer; they need no connection
        self._flights: WeakValueDictionary[str, Lane] = WeakValueDictionary()

    def flight(self, path: str) -> Lane:
        """Return the lane of those who wait for the same page: it is computed once at a time."""
        lane = self._flights.get(path)
        if lane is None:
            lane = self._flights[path] = Lane(1, longest_queue=8)
        return lane

"""Slots for database work: bounded FIFO queues.

A request waits for its slot without holding a thread. Otherwise many writers that wait for SQLite's
lock would take all threads, and the holder of the lock could not continue. A request that waits too
long, or finds the queue full, is refused with a request to retry, so no wait is unbounded.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, WouldBlock, current_time, fail_after, sleep
from starlette.requests import Request

from topkapi.app.web.common.errors import Busy

QUEUE_SECONDS = 3.5  # including the wait for a database lock, no request waits more than 5
MOST_OF_ONE_KEY = 50  # requests in the queue of one person or address
REFUSAL_SECONDS = 2.0  # before one more is refused: at once, it would be sent again at once
MOST_OF_A_BROWSER = 8  # requests that wait at once; browsers open six connections
REST = 2.0  # times as long as a request took, a key with more requests leaves its slot unused
LONGEST_REST = 0.25


class Lane:
    """A number of slots, and a bounded queue of requests that wait for one.

    Requests with the same key, such as those of one person, take at most ``per_key`` places, slots
    and queue together; the others wait for each other, and where there are many, the slot rests
    between them, because threads share one interpreter. So nobody delays others by many requests.
    """

    def __init__(
        self,
        slots: int,
        *,
        longest_queue: int,
        per_key: int = 1,
        refusal_seconds: float = 0.0,
        rest: float = 0.0,
    ) -> None:
        self.limiter = CapacityLimiter(slots)
        self._longest_queue, self._refusal_seconds = longest_queue, refusal_seconds
        self._rest = rest
        self._by_key = LanesByKey(
            per_key, longest_queue=min(longest_queue, MOST_OF_ONE_KEY), rest=REST
        )

    @asynccontextmanager
    async def hold(self, before: float = 0.0, *, key: Hashable = None) -> AsyncIterator[float]:
        """Hold a slot; yield the seconds spent waiting, with those ``before`` in another lane."""
        if key is not None:
            async with self._by_key.of(key).hold(before) as waited, self.hold(waited) as waited:
                yield waited
            return
        slot = object()
        waited = before + await self._acquire(slot, before)
        began = current_time()
        try:
            yield waited
        finally:
            self._release(slot, min(self._rest * (current_time() - began), LONGEST_REST))

    def _release(self, slot: object, rest: float) -> None:
        if rest and self.limiter.statistics().tasks_waiting > MOST_OF_A_BROWSER:
            asyncio.get_running_loop().call_later(rest, self._release, slot, 0.0)
        else:
            self.limiter.release_on_behalf_of(slot)

    async def _acquire(self, slot: object, before: float) -> float:
        try:
            self.limiter.acquire_on_behalf_of_nowait(slot)
        except WouldBlock:
            return await self._wait(slot, before)
        return 0.0

    async def _wait(self, slot: object, before: float) -> float:
        if self.limiter.statistics().tasks_waiting >= self._longest_queue:
            await sleep(self._refusal_seconds)
            raise Busy
        begin = current_time()
        try:
            with fail_after(QUEUE_SECONDS - before):
                await self.limiter.acquire_on_behalf_of(slot)
        except TimeoutError:
            raise Busy from None
        return current_time() - begin


class LanesByKey:
    """A lane for each key that somebody holds or waits for."""

    def __init__(self, slots: int, *, longest_queue: int, rest: float = 0.0) -> None:
        self._slots, self._longest_queue, self._rest = slots, longest_queue, rest
        self._lanes: WeakValueDictionary[Hashable, Lane] = WeakValueDictionary()

    def of(self, key: Hashable) -> Lane:
        """Return the lane of a key."""
        lane = self._lanes.get(key)
        if lane is None:
            lane = self._lanes[key] = Lane(
                self._slots,
                longest_queue=self._longest_queue,
                refusal_seconds=REFUSAL_SECONDS,
                rest=self._rest,
            )
        return lane


class TransactionLimits:
    """The lanes of one process. Together they have fewer slots than its pool has connections.

    SQLite allows one writer at a time anyway; here writers queue in order of arrival. On PostgreSQL
    two suffice: most of an answer is Python, and more threads only compete for the interpreter.
    """

    def __init__(self, dialect: str) -> None:
        writers = 1 if dialect == "sqlite" else 2
        self.read = Lane(4, longest_queue=500, per_key=2)
        self.write = Lane(writers, longest_queue=500)
        self.computing = Lane(2, longest_queue=500)  # slow sorters, beside the transactions
        self.authentication = Lane(2, longest_queue=100)  # people with a signed cookie or token
        self.strangers = Lane(2, longest_queue=100)  # unknown tokens and links, by address
        self.sign_in = Lane(2, longest_queue=50)  # each hashes a password; by device or address
        self.health = Lane(1, longest_queue=10)
        self.export = Lane(2, longest_queue=8)
        self.results = Lane(2, longest_queue=50)  # pages of results: stored, or computed quickly
        self.download = Lane(8, longest_queue=8)  # files in transfer; they need no connection
        self.flights = LanesByKey(1, longest_queue=8)  # pages that are computed once, by path


def limits_of(request: Request) -> TransactionLimits:
    """Return the lanes of this process."""
    limits: TransactionLimits = request.app.state.transaction_limits
    return limits

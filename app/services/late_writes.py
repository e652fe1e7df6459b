"""Small asynchronous writes that no request waits for: token uses and sign-in attempts.

They are queued in memory and written by a separate thread, which retries later if the database is
locked. So sign-ins, and requests that only read, are answered while an import or a backup holds the
write lock. Pending writes are lost if the process is killed, which is acceptable for this data.
"""

import logging
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import islice
from threading import Condition, Lock, Thread

from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.sql.dml import UpdateBase

from topkapi.app.db.engine import Sessions

MOST = 10_000  # pending writes; beyond that the oldest is dropped
REST = 2.0  # seconds before a write that is not urgent is started
RETRY = 1.0  # seconds until the next attempt while the database is locked
_log = logging.getLogger("topkapi.late_writes")


@dataclass(frozen=True, slots=True)
class LateWrite:
    """A statement, and a callback for when it is committed or dropped."""

    statement: UpdateBase
    when_written: Callable[[], None] | None = None


class LateWrites:
    """The pending writes of one process; a newer write replaces one with the same key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._pending: dict[Hashable, LateWrite] = {}
        self._changed = Condition()
        self._flushing = Lock()
        self._urgent = self._closed = False
        self._thread: Thread | None = None  # started with the first write

    def add(self, key: Hashable, write: LateWrite, *, urgent: bool = False) -> None:
        """Queue ``write``; an ``urgent`` write is started at once, others after a short delay."""
        with self._changed:
            self._pending.pop(key, None)
            self._pending[key] = write
            self._urgent |= urgent
            self._start()
            self._changed.notify()
        self._drop_oldest()

    def flush(self) -> bool:
        """Write all pending writes in one transaction; return False if the database is locked."""
        with self._flushing:
            with self._changed:
                batch, self._urgent = dict(self._pending), False
            return not batch or self._write(batch)

    def close(self) -> None:
        """Stop the thread and write what is pending, unless the database is locked."""
        with self._changed:
            self._closed = True
            thread, self._thread = self._thread, None
            self._changed.notify()
        if thread is not None:
            thread.join()
        self.flush()
        self._closed = False

    def _start(self) -> None:
        if self._thread is None and not self._closed:
            self._thread = Thread(target=self._run, name="late-writes", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while self._wait_for_work():
            if not self.flush():
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, RETRY)

    def _wait_for_work(self) -> bool:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._pending)
            self._changed.wait_for(lambda: self._closed or self._urgent, REST)
            return not self._closed

    def _write(self, batch: dict[Hashable, LateWrite]) -> bool:
        try:
            with self._sessions.late.begin() as session:
                for write in batch.values():
                    session.execute(write.statement)
        except (OperationalError, NoConnection):
            return False
        except SQLAlchemyError:
            if len(batch) > 1:  # a write that fails must not block the others
                return all(self._write({key: write}) for key, write in batch.items())
            _log.exception("a late write failed and was dropped")
        self._forget(batch)
        return True

    def _drop_oldest(self) -> None:
        with self._changed:
            excess = max(0, len(self._pending) - MOST)
            oldest = dict(islice(self._pending.items(), excess))
        self._forget(oldest)

    def _forget(self, batch: dict[Hashable, LateWrite]) -> None:
        with self._changed:
            for key, write in batch.items():
                if self._pending.get(key) is write:
                    del self._pending[key]
        for write in batch.values():
            if write.when_written is not None:
                write.when_written()

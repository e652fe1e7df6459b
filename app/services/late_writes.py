"""Small writes that no request waits for: when a token was used, tries to sign in.

They are kept in memory and written by a thread of their own, which gives up at a lock and tries
again. So a request that only reads, and a sign-in, are answered while an import or a backup holds
the write lock. What a killed process had not written is lost; nothing here is worth a wait.
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

MOST = 10_000  # writes kept; the oldest is dropped for one more
REST = 2.0  # seconds until a write that is not urgent is begun
RETRY = 1.0  # seconds until the next try when something is locked
_log = logging.getLogger("topkapi.late_writes")


@dataclass(frozen=True, slots=True)
class LateWrite:
    """A statement, and what to do once it is committed or given up."""

    statement: UpdateBase
    when_written: Callable[[], None] | None = None


class LateWrites:
    """Writes of one process that wait for their turn; a newer one replaces one of the same key."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions
        self._waiting: dict[Hashable, LateWrite] = {}
        self._changed = Condition()
        self._flushing = Lock()
        self._urgent = self._closed = False
        self._thread: Thread | None = None  # started with the first write

    def add(self, key: Hashable, write: LateWrite, *, urgent: bool = False) -> None:
        """Have ``write`` done soon, or at once if it is ``urgent`` and nothing is locked."""
        with self._changed:
            self._waiting.pop(key, None)
            self._waiting[key] = write
            self._urgent |= urgent
            self._start()
            self._changed.notify()
        self._drop_oldest()

    def flush(self) -> bool:
        """Write what waits in one transaction; return False where a lock was in the way."""
        with self._flushing:
            with self._changed:
                batch, self._urgent = dict(self._waiting), False
            return not batch or self._write(batch)

    def close(self) -> None:
        """Stop the thread and write what is left, if nothing is locked."""
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
            self._changed.wait_for(lambda: self._closed or self._waiting)
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
            if len(batch) > 1:  # one that cannot be written keeps none of the others back
                return all(self._write({key: write}) for key, write in batch.items())
            _log.exception("a late write failed and is given up")
        self._forget(batch)
        return True

    def _drop_oldest(self) -> None:
        with self._changed:
            excess = max(0, len(self._waiting) - MOST)
            oldest = dict(islice(self._waiting.items(), excess))
        self._forget(oldest)

    def _forget(self, batch: dict[Hashable, LateWrite]) -> None:
        with self._changed:
            for key, write in batch.items():
                if self._waiting.get(key) is write:
                    del self._waiting[key]
        for write in batch.values():
            if write.when_written is not None:
                write.when_written()

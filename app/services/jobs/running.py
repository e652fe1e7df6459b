"""A job while it runs: what its function is given, and the lease that is extended meanwhile."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import SQLAlchemyError

from topkapi.app.db.base import Json
from topkapi.app.db.engine import Sessions
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.store import Lease

if TYPE_CHECKING:  # loads joblib
    from topkapi.analysis.tasks import Progress, Row, Task

_NOTED = 0.5  # seconds between two writes of the progress
_EXTENSIONS = 3  # of a lease, before it would end
_log = logging.getLogger("topkapi.jobs")


class Stopped(Exception):
    """The job was asked to stop, or another worker has taken it."""


@dataclass(frozen=True, slots=True)
class RunningJob:
    """What the function of a kind is given.

    It opens sessions only to read and keeps none open while it computes. ``progress`` takes the
    share done and a message, and raises Stopped when the job is to end. Heavy computing goes
    through ``run_tasks``: ``processes`` at a time, or on the scheduler at the address ``dask``.
    """

    study: str
    parameters: Json
    sessions: Sessions
    progress: Callable[[float, str], None]
    dask: str | None = None
    processes: int = 1
    id: int = 0

    def run_tasks(self, tasks: "Sequence[Task]", done: "Progress") -> "list[Row]":
        """Run tasks through joblib or Dask and return their rows; ``done`` is told each one."""
        from topkapi.analysis.tasks import Store, run_tasks

        return run_tasks(tasks, Store(), jobs=self.processes, dask=self.dask, progress=done)


class LeaseKeeper:
    """Extends a lease from a thread, and from the job's progress points."""

    def __init__(self, sessions: Sessions, held: Lease, lease: timedelta) -> None:
        self._sessions, self._held, self._lease = sessions, held, lease
        self._lost, self._ended = Event(), Event()
        self._noted = 0.0

    def note(self, progress: float, message: str) -> None:
        """Store the progress, a few times a second at most; raise Stopped if the job is to end."""
        if not self._lost.is_set() and time.monotonic() - self._noted >= _NOTED:
            self._extend(
                lambda session: store.note_progress(session, self._held, progress, message)
            )
            self._noted = time.monotonic()
        if self._lost.is_set():
            raise Stopped

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Extend the lease, several times before it would end, until the block ends."""
        thread = Thread(target=self._keep, name="job-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ended.set()
            thread.join()

    def _keep(self) -> None:
        while not self._ended.wait(self._lease.total_seconds() / _EXTENSIONS):
            try:
                self._extend(lambda _session: None)
            except SQLAlchemyError:
                _log.warning("the lease of job %s was not extended", self._held.job_id)

    def _extend(self, further: Callable[[Any], None]) -> None:
        with self._sessions.write.begin() as session:
            further(session)
            if not store.extend_lease(session, self._held, self._lease):
                self._lost.set()

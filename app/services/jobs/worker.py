"""A worker: takes jobs one after the other and stores what comes of them."""

import logging
import os
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy.exc import OperationalError, SQLAlchemyError
from sqlalchemy.orm import Session

from topkapi.analysis.errors import AnalysisError
from topkapi.app.db.base import Json
from topkapi.app.db.engine import Sessions
from topkapi.app.db.notices import Listener
from topkapi.app.domain.errors import AppError
from topkapi.app.services.jobs import store
from topkapi.app.services.jobs.kinds import KINDS
from topkapi.app.services.jobs.running import LeaseKeeper, RunningJob, Stopped
from topkapi.app.services.jobs.store import Lease
from topkapi.extras import MissingPackage

IDLE_SECONDS = 1.0  # between two looks at an empty queue, unless a notice comes first
_log = logging.getLogger("topkapi.jobs")


def worker_name() -> str:
    """Return a name that no other worker has."""
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(4)}"


@dataclass(frozen=True, slots=True)
class Worker:
    """Runs jobs in this process; no transaction is open while one computes.

    On PostgreSQL a new job wakes it; ``idle`` are the seconds after which it looks by itself.
    """

    sessions: Sessions
    kinds: Mapping[str, Callable[[RunningJob], Json]] = field(default_factory=lambda: KINDS)
    lease: timedelta = store.LEASE
    dask: str | None = None
    processes: int = 1
    name: str = field(default_factory=worker_name)
    idle: float = IDLE_SECONDS

    def run(self, *, until_empty: bool = False) -> None:
        """Run jobs for ever, or until none waits; a database that is away is tried again."""
        recovered = False
        with closing(Listener(self.sessions, store.CHANNEL)) as listener:
            while True:
                try:
                    recovered = recovered or self._recover()
                    ran = self.run_one()
                except SQLAlchemyError:
                    _log.exception("the database did not answer")
                    ran = recovered = False
                if not ran and until_empty:
                    return
                if not ran:
                    listener.wait(self.idle)

    def _recover(self) -> bool:
        """Make the jobs takeable that a worker of the same name held, which was interrupted."""
        with self.sessions.write.begin() as session:
            store.expire_leases(session, self.name)
        return True

    def run_one(self) -> bool:
        """Run the next job; return whether there was one. Reads first: a write locks SQLite."""
        with self.sessions.read() as session:
            if not store.has_work(session):
                return False
        with self.sessions.write.begin() as session:
            held = store.take_job(session, self.name, self.lease)
        if held is not None:
            self.run_taken(held)
        return held is not None

    def run_taken(self, held: Lease) -> None:
        """Run a job that this worker holds, and store what comes of it."""
        keeper = LeaseKeeper(self.sessions, held, self.lease)
        job = RunningJob(
            held.study,
            held.parameters,
            self.sessions,
            keeper.note,
            self.dask,
            self.processes,
            held.job_id,
        )
        _log.info("job %s (%s of %s) begins", held.job_id, held.kind, held.study)
        try:
            with keeper.kept():
                result = self.kinds[held.kind](job)
            self._write(lambda session: store.finish_job(session, held, result))
        except Stopped:
            self._write(lambda session: store.stop_taken(session, held))
        except OperationalError:  # the database was away: the job is taken again
            raise
        except Exception as error:
            reason = _reason(error)
            self._write(lambda session: store.fail_job(session, held, reason))
        except BaseException:  # this process is told to end
            self._write(lambda session: store.release_job(session, held))
            raise

    def _write(self, change: Callable[[Session], bool]) -> None:
        with self.sessions.write.begin() as session:
            if not change(session):
                _log.warning("another worker has taken the job; what came of it here is dropped")


def _reason(error: Exception) -> str:
    """Return a sentence for people; the log has the traceback of what was not foreseen."""
    if isinstance(error, AppError | AnalysisError):
        return str(error)
    if isinstance(error, MissingPackage):
        return error.elsewhere
    _log.error("a job failed", exc_info=error)
    return f"Unexpected error: {type(error).__name__}: {error}. The log of the worker has more."

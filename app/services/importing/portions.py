"""Short transactions for what takes long, so that assessors' answers are stored in between."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Content
from topkapi.app.db.queries.studies.importing import lock_imports, new_contents
from topkapi.app.db.queries.studies.study_tables import drop_unfinished, drop_unused
from topkapi.app.db.search import index_documents, unindexed
from topkapi.app.services.importing.kinds.base import Row

_MOST_PAUSE = 0.25  # seconds
_PAUSES = (0.5, 1.0, 2.0, 4.0)  # seconds between tries to remove what an import left
_log = logging.getLogger("topkapi.imports")


@contextmanager
def in_portion(sessions: Sessions) -> Iterator[Session]:
    """Commit a short transaction, then leave the database to others for as long as it took.

    SQLite wakes nobody who waits for its lock: without a pause the next portion would get it again.
    """
    with in_portions(sessions) as (session, rest):
        lock_imports(session)
        yield session
        rest()


@contextmanager
def in_portions(sessions: Sessions) -> Iterator[tuple[Session, Callable[[], None]]]:
    """Provide a session, and a function that commits and rests before the next transaction."""
    with sessions.write() as session:
        began = time.monotonic()

        def rest() -> None:
            nonlocal began
            session.commit()
            time.sleep(min(time.monotonic() - began, _MOST_PAUSE))
            began = time.monotonic()

        yield session, rest


def add_contents(session: Session, rows: list[Row]) -> list[str]:
    """Insert the contents that do not exist yet; return their hashes."""
    hashes = [row["hash"] for row in rows]
    known = set(session.scalars(select(Content.hash).where(Content.hash.in_(hashes))))
    new = [row for row in rows if row["hash"] not in known]
    if new:
        session.execute(new_contents(session), new)
    return [row["hash"] for row in new]


def index_in_portions(sessions: Sessions) -> None:
    """Add to the search index what it lacks; what fails is left to the next import or start."""
    with _later("the search index is incomplete"):
        with sessions.read() as session:
            ranges = unindexed(session)
        for first, last in ranges:
            with in_portion(sessions) as session:
                index_documents(session, first=first, last=last)


def remove_unfinished(sessions: Sessions, slug: str, written: Sequence[str]) -> None:
    """Remove what an import wrote; a database that restarts is waited for.

    What remains in the end is not shown, and the next start of a server removes it.
    """
    for pause in _PAUSES:
        try:
            with sessions.write.begin() as session:
                drop_unfinished(session, slug)
                drop_unused(session, written)
        except OperationalError:
            _log.warning("what is left of an import could not be removed yet")
            time.sleep(pause)
        else:
            return


def finish_interrupted(sessions: Sessions) -> None:
    """Remove what is left of imports that were killed, and complete the search index."""
    with _later("contents of an interrupted import remain"), sessions.write.begin() as session:
        lock_imports(session)
        drop_unfinished(session)
        drop_unused(session)
    index_in_portions(sessions)


@contextmanager
def _later(message: str) -> Iterator[None]:
    """Log that the database was locked for too long."""
    try:
        yield
    except OperationalError:
        _log.exception(message)

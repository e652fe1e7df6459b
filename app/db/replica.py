"""A replica of the database, from which reports, exports and figures are read.

A replica is a moment behind. Before a report is read, the replica catches up with what was
committed so far, so that people find what they have just stored.
"""

import time

from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.orm import Session

from topkapi.app.db.engine import Sessions
from topkapi.app.db.migrations import head_revision
from topkapi.app.domain.errors import Conflict

CATCH_UP_SECONDS = 2.0  # afterwards a report shows what the replica has
_COMMITTED = text("SELECT CAST(pg_current_wal_flush_lsn() AS text)")
_BEHIND = text("SELECT pg_last_wal_replay_lsn() < CAST(:committed AS pg_lsn)")  # null: no replica


def catch_up(sessions: Sessions) -> None:
    """Wait for the replica, if there is one; raise Conflict if its migration is another."""
    if sessions.reports is sessions.read:
        return
    with sessions.read() as session:
        committed = session.scalar(_COMMITTED)
    deadline = time.monotonic() + CATCH_UP_SECONDS
    with sessions.reports() as session:
        while session.scalar(_BEHIND, {"committed": committed}) and time.monotonic() < deadline:
            time.sleep(0.01)
        require_migrated(session)


def require_migrated(session: Session) -> None:
    """Raise Conflict unless the replica has the tables that this program expects."""
    found = MigrationContext.configure(session.connection()).get_current_revision()
    if found != head_revision():
        raise Conflict(
            f"The database of TOPKAPI_READ_DATABASE_URL is at migration {found or 'none'}, needed "
            f"{head_revision()}: it has not caught up, or is not a replica of TOPKAPI_DATABASE_URL."
        )

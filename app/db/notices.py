"""Notices between processes that share a PostgreSQL database (LISTEN and NOTIFY).

A notice only shortens a wait: it may be lost, so who waits for one looks now and then as well.
SQLite has no notices, and PgBouncer in transaction mode no connection that could listen.
"""

import time
from contextlib import suppress
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from topkapi.app.db.engine import LISTENS, Sessions

RETRY_SECONDS = 1.0  # after the connection was lost


def notify(session: Session, channel: str) -> None:
    """Wake the processes that listen to ``channel`` when the transaction is committed."""
    if session.get_bind().dialect.name == "postgresql":
        session.execute(text(f"NOTIFY {channel}"))


class Listener:
    """Waits for notices on a connection outside the pool, which is opened again when it is lost."""

    def __init__(self, sessions: Sessions, channel: str) -> None:
        self._engine, self._channel = sessions.read().get_bind().engine, channel
        self._connection: Any = None  # of psycopg

    def wait(self, seconds: float) -> None:
        """Return at a notice, after ``seconds``, or at once if it has only now begun to listen."""
        if not self._engine.get_execution_options().get(LISTENS):
            time.sleep(seconds)
            return
        try:
            if self._connection is None:
                self._connection = self._connected()  # what was sent before is lost
            else:
                list(self._connection.notifies(timeout=seconds, stop_after=1))
        except self._engine.dialect.loaded_dbapi.Error:
            self.close()
            time.sleep(min(seconds, RETRY_SECONDS))

    def close(self) -> None:
        """Stop listening."""
        if self._connection is not None:
            with suppress(self._engine.dialect.loaded_dbapi.Error):
                self._connection.close()
            self._connection = None

    def _connected(self) -> Any:
        words, options = self._engine.dialect.create_connect_args(self._engine.url)
        connection: Any = self._engine.dialect.connect(*words, autocommit=True, **options)
        connection.execute(f"LISTEN {self._channel}")
        return connection

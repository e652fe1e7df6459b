"""Locks that block every writer, as a long import does, and databases that do not wait for them."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import create_engine, make_url, text

from topkapi.app.db import engine as engines
from topkapi.app.db.base import Base


def be_impatient(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every wait for a lock fail at once; call this before the first connection."""
    for name in ("BUSY_MS", "REQUEST_BUSY_MS"):
        monkeypatch.setattr(engines, name, 20, raising=False)
    if database_url.startswith("postgresql"):
        database = make_url(database_url).database
        engine = create_engine(database_url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            # seconds: their end is awaited, behind a lock that is held
            connection.execute(text(f"ALTER DATABASE {database} SET lock_timeout = 20"))
        engine.dispose()


@contextmanager
def all_writing_locked(database_url: str) -> Iterator[None]:
    """Hold SQLite's write lock, or on PostgreSQL a lock of each table that allows reads."""
    engine = create_engine(database_url)
    sqlite = database_url.startswith("sqlite")
    tables = ", ".join(table.name for table in Base.metadata.sorted_tables)
    lock = "BEGIN IMMEDIATE" if sqlite else f"LOCK TABLE {tables} IN EXCLUSIVE MODE"
    with engine.connect() as connection:
        connection.exec_driver_sql(lock)
        yield
        connection.rollback()
    engine.dispose()

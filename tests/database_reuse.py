"""Emptying a PostgreSQL database for the next test, which is much cheaper than a new copy."""

from functools import cache

import psycopg

from topkapi.app.db import models
from topkapi.app.db.base import Base

LARGE = 4_000_000  # bytes of tables and indexes; a new copy costs less than emptying more

_DISCONNECT = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_SHAPE = """
SELECT md5(string_agg(line, ';' ORDER BY line)) FROM (
  SELECT 'revision ' || version_num FROM alembic_version
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
  UNION ALL SELECT conrelid::regclass || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT attrelid::regclass || attname || atttypid || attnotnull || attisdropped
    FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
    WHERE relnamespace = 'public'::regnamespace AND attnum > 0
  UNION ALL SELECT tgrelid::regclass || tgname FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'function ' || proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace
) AS lines (line)
"""
_SIZE = """
SELECT sum(pg_relation_size(oid)) FROM pg_class WHERE relnamespace = 'public'::regnamespace
"""
_RESTART = """
SELECT setval(oid, 1, false) FROM pg_class
WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
"""


def shape(url: str) -> str:
    """Return a digest of everything in the schema of the database, its migration included."""
    with _connect(url) as connection:
        return str(_value(connection, _SHAPE))


class Cleaner:
    """Empties one database after each test.

    Its connection stays open from test to test: a new one takes ten times as long to read the
    catalogue as to delete the rows.
    """

    def __init__(self, url: str, expected: str) -> None:
        self._url, self._expected = url, expected
        self._connection: psycopg.Connection | None = None

    def emptied(self) -> bool:
        """Delete all rows and restart the ids; return False if the database is to be replaced."""
        try:
            self._connection = self._connection or _connect(self._url)
            return _emptied(self._connection, self._expected)
        except psycopg.Error:  # a test ended every connection, or its settings prevent it
            return False

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()


def _emptied(connection: psycopg.Connection, expected: str) -> bool:
    name = connection.info.dbname
    connection.execute(_DISCONNECT)
    connection.execute(f"ALTER DATABASE {name} RESET ALL".encode())
    if _value(connection, _SHAPE) != expected or int(str(_value(connection, _SIZE))) > LARGE:
        return False
    connection.execute(_cleaning())
    return True


@cache
def _cleaning() -> bytes:
    assert models
    deletions = [f"DELETE FROM {table.name}" for table in reversed(Base.metadata.sorted_tables)]
    return "; ".join([*deletions, _RESTART]).encode()


def _value(connection: psycopg.Connection, statement: str) -> object:
    row = connection.execute(statement.encode()).fetchone()
    assert row is not None
    return row[0]


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("+psycopg", ""), autocommit=True)

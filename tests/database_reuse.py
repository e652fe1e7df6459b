"""Emptying a PostgreSQL database for the next test, which is much cheaper than a new copy."""

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


def emptied(url: str, expected: str) -> bool:
    """Delete all rows and restart the ids; return False if the database is to be replaced."""
    with _connect(url) as connection:
        connection.execute(_DISCONNECT)
        if _value(connection, _SHAPE) != expected or int(str(_value(connection, _SIZE))) > LARGE:
            return False
        connection.execute(_cleaning())
        return True


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

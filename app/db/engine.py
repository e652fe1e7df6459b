"""Engines and sessions for SQLite and PostgreSQL.

Read and write transactions are separate. On SQLite a write transaction starts with BEGIN IMMEDIATE,
so that it never has to upgrade its lock half way (which fails when another writer was quicker); a
read transaction takes no lock that a writer would wait for. On both databases a read transaction
cannot write.
"""

import os
import select
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import ConnectionPoolEntry

from topkapi.app.db.storable import dump_json, refuse_unstorable
from topkapi.extras import optional_module

POOL_SIZE = (
    20  # connections per process; topkapi.app.web.access.slots admits fewer requests at once
)
BUSY_MS = 30_000  # lock timeout of commands and imports
REQUEST_BUSY_MS = 4_000  # lock timeout of a request, including its wait for a slot
LATE_MS = 250  # lock timeout of a write that can be retried later
POOL_SECONDS = 2.0  # to get a connection from the pool; one should always be free
WAL_BYTES = 64 * 1024**2
RESTED_SECONDS = 5.0
PREPARED = "prepared_statements"
LISTENS = "topkapi_listens"  # whether a connection can wait for notices
_BUSY_OPTION = "topkapi_busy_ms"
READ_ONLY = {"topkapi_read_only": True, "postgresql_readonly": True}


@dataclass(frozen=True, slots=True)
class Sessions:
    """Session factories: ``read`` for read-only transactions, ``write`` for everything else.

    ``late`` also writes, but gives up at once if something is locked. ``reports`` reads from a
    replica if there is one, and is ``read`` otherwise.
    """

    read: sessionmaker[Session]
    write: sessionmaker[Session]
    late: sessionmaker[Session]
    reports: sessionmaker[Session]


def normal_url(url: str) -> URL:
    """Parse a database address and set its driver; raise ValueError with the fix otherwise."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ValueError(
            "the database address is not of the form sqlite:///file.db or "
            "postgresql://user:password@host/name"
        ) from None
    match parsed.drivername:
        case "sqlite" | "sqlite+pysqlite":
            if parsed.database in (None, "", ":memory:"):
                raise ValueError(
                    "an in-memory database is not kept: name a file, such as sqlite:///topkapi.db"
                )
            return parsed.set(drivername="sqlite+pysqlite")
        case "postgres" | "postgresql" | "postgresql+psycopg":
            return parsed.set(drivername="postgresql+psycopg")
        case other:
            raise ValueError(f"the database {other!r} is not supported: use sqlite or postgresql")


def make_engine(url: str, *, foreign_keys: bool = True, for_requests: bool = False) -> Engine:
    """Return an engine for either database; only migrations switch SQLite's foreign keys off.

    Requests wait only a few seconds for a lock, so that people are asked to try again. Error
    messages never contain values: they may be e-mail addresses or token hashes.
    """
    parsed = normal_url(url)
    if parsed.get_backend_name() == "postgresql":
        optional_module("psycopg", "postgres", "The driver of PostgreSQL")
    busy_ms = REQUEST_BUSY_MS if for_requests else BUSY_MS
    engine = _engine(parsed, pool_seconds=POOL_SECONDS if for_requests else BUSY_MS / 1000)
    if parsed.get_backend_name() == "postgresql":
        _replace_dead_connections(engine)
        behind_pgbouncer = parsed.query.get(PREPARED) == "off"
        _bound_lock_waits(engine, busy_ms if for_requests else 0, per_transaction=behind_pgbouncer)
        return engine
    assert parsed.database is not None
    _make_private(Path(parsed.database).absolute())
    _prepare_sqlite(engine, foreign_keys=foreign_keys, busy_ms=busy_ms)
    return engine


@contextmanager
def open_engine(url: str, *, foreign_keys: bool = True) -> Iterator[Engine]:
    """Yield an engine whose connections are closed at the end."""
    engine = make_engine(url, foreign_keys=foreign_keys)
    try:
        yield engine
    finally:
        engine.dispose()


def _make_private(path: Path) -> None:
    """Create the database file readable only by its owner, and remove access by others.

    SQLite gives its WAL and shared-memory files the mode of the database. Group permissions of an
    existing file are left as they are.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        with suppress(FileNotFoundError, PermissionError):  # another user's file: leave it to them
            mode = each.stat().st_mode
            if mode & 0o007:
                each.chmod(stat.S_IMODE(mode) & ~0o007)


def _engine(url: URL, *, pool_seconds: float) -> Engine:
    """Create the engine; `?prepared_statements=off` is for PgBouncer in transaction mode."""
    prepared = url.query.get(PREPARED, "on")
    if prepared not in ("on", "off"):
        raise ValueError(f"{PREPARED} in the database address must be on or off, not {prepared!r}")
    engine = create_engine(
        url.difference_update_query([PREPARED]),
        pool_size=POOL_SIZE,
        max_overflow=0,
        pool_timeout=pool_seconds,
        hide_parameters=True,
        json_serializer=dump_json,
        connect_args={"prepare_threshold": None} if prepared == "off" else {},
        execution_options={
            LISTENS: url.get_backend_name() == "postgresql" and prepared == "on",
        },
    )
    refuse_unstorable(engine)
    return engine


def make_sessions(engine: Engine, replica: Engine | None = None) -> Sessions:
    """Return session factories for ``engine``; objects stay readable after the commit."""
    late = engine.execution_options(**{_BUSY_OPTION: LATE_MS})
    read = _reading(engine)
    return Sessions(
        read=read,
        write=sessionmaker(engine, expire_on_commit=False),
        late=sessionmaker(late, expire_on_commit=False),
        reports=_reading(replica) if replica is not None else read,
    )


def _reading(engine: Engine) -> sessionmaker[Session]:
    return sessionmaker(engine.execution_options(**READ_ONLY), expire_on_commit=False)


def connection_of(session: Session) -> Connection:
    """Return the session's connection, for statements that run with every request.

    They bypass the session, because tracking objects would cost more than the statements
    themselves. Pending changes of the session are flushed first.
    """
    session.flush()
    return session.connection()


def shorten_lock_wait(session: Session, waited: float) -> None:
    """Begin the transaction with a lock timeout reduced by the ``waited`` seconds."""
    left = max(1, REQUEST_BUSY_MS - int(1000 * waited))
    session.connection(execution_options={_BUSY_OPTION: left})


def _replace_dead_connections(engine: Engine) -> None:
    """Replace PostgreSQL connections that have ended, as after a restart of the server.

    A ping per checkout would cost a round trip with every request. A server that ends a connection
    says so, which can be seen without a ping. One that vanished, or a network that dropped the
    connection, shows only in a ping, so connections that were idle are pinged.
    """

    def on_checkin(_connection: Any, record: ConnectionPoolEntry) -> None:
        record.info["idle_since"] = time.monotonic()

    def on_checkout(connection: DBAPIConnection, record: ConnectionPoolEntry, _proxy: Any) -> None:
        since = record.info.get("idle_since")
        if since is None:
            return  # a new connection
        try:
            if _has_unread_data(connection) or time.monotonic() - since > RESTED_SECONDS:
                engine.dialect.do_ping(connection)
        except engine.dialect.loaded_dbapi.Error as error:
            raise InvalidatePoolError("the connection has ended") from error

    event.listen(engine, "checkin", on_checkin)
    event.listen(engine, "checkout", on_checkout)


def _has_unread_data(connection: DBAPIConnection) -> bool:
    """Return whether the server has sent something unrequested."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _bound_lock_waits(engine: Engine, busy_ms: int, *, per_transaction: bool) -> None:
    """Set PostgreSQL's lock timeout to ``busy_ms`` (0: none), or to the execution option.

    Behind PgBouncer a connection's settings do not last, so they are set in every transaction.
    """

    def on_connect(connection: Any, _record: Any) -> None:
        connection.execute(f"SET lock_timeout = {busy_ms}")
        connection.commit()

    def on_begin(connection: Connection) -> None:
        default = busy_ms if per_transaction else None
        wanted = connection.get_execution_options().get(_BUSY_OPTION, default)
        if wanted is not None:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {wanted}")

    if not per_transaction:
        event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)


def _prepare_sqlite(engine: Engine, *, foreign_keys: bool, busy_ms: int) -> None:
    """Configure each connection, and let SQLAlchemy rather than the driver issue BEGIN."""

    def on_connect(connection: SqliteConnection, _record: Any) -> None:
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout={busy_ms}",
            "journal_mode=WAL",
            f"journal_size_limit={WAL_BYTES}",  # a long snapshot grows it: shrink it afterwards
            "synchronous=FULL",  # an answer that was acknowledged survives a loss of power
            f"foreign_keys={'ON' if foreign_keys else 'OFF'}",
        ):
            connection.execute(f"PRAGMA {pragma}")

    def on_begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        read_only = options.get("topkapi_read_only", False)
        wanted = options.get(_BUSY_OPTION, busy_ms)
        if connection.info.get("busy_ms", busy_ms) != wanted:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={wanted}")
            connection.info["busy_ms"] = wanted
        if connection.info.get("read_only") is not read_only:
            connection.exec_driver_sql(f"PRAGMA query_only={'ON' if read_only else 'OFF'}")
            connection.info["read_only"] = read_only
        connection.exec_driver_sql("BEGIN" if read_only else "BEGIN IMMEDIATE")

    event.listen(engine, "connect", on_connect)
    event.listen(engine, "begin", on_begin)

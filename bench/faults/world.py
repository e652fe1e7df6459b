"""The server under test: a process that is killed, stopped and restarted, and its database."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
from sqlalchemy import URL, make_url, text

from bench.faults.clock import Clock
from tests.databases import PostgresqlServer
from tests.live import LiveServer, free_port, serving
from topkapi.app.db.engine import make_engine


class World:
    """One server on one port, restarted as often as needed."""

    def __init__(
        self,
        database_url: str,
        folder: Path,
        workers: int,
        cluster: PostgresqlServer | None,
        *,
        work: bool = False,
    ) -> None:
        self.url: URL = make_url(database_url)
        self._database_url = database_url
        self.workers, self.cluster, self._work = workers, cluster, work
        self._folder, self._port, self._stack = folder, free_port(), ExitStack()
        self._clock = Clock(folder)
        self._server: LiveServer | None = None

    @property
    def address(self) -> str:
        """Address of the server."""
        return f"http://localhost:{self._port}"

    @property
    def is_sqlite(self) -> bool:
        """Whether the database is SQLite."""
        return self.url.get_backend_name() == "sqlite"

    async def start(self) -> None:
        """Start the server and wait until it is ready."""
        await asyncio.to_thread(self._start)

    def _start(self) -> None:
        with self._clock.started():
            started = serving(
                self._database_url,
                self._folder,
                port=self._port,
                work=self._work,
                workers=str(self.workers),
                host="localhost",
            )
            self._server = self._stack.enter_context(started)

    def processes(self) -> list[psutil.Process]:
        """Return the server's process and its workers."""
        assert self._server is not None
        parent = psutil.Process(self._server.process.pid)
        return [parent, *parent.children(recursive=True)]

    def worker_processes(self) -> list[psutil.Process]:
        """Return the processes that answer requests: the children, or the only one."""
        parent, *children = self.processes()
        return [each for each in children if "spawn_main" in " ".join(each.cmdline())] or [parent]

    async def kill(self) -> None:
        """Kill every process of the server."""
        assert self._server is not None
        for process in self.processes():
            process.kill()
        await asyncio.to_thread(self._server.process.wait)

    async def end(self) -> None:
        """Stop the server gracefully."""
        await asyncio.to_thread(self._stack.close)

    async def stop(self, seconds: float) -> None:
        """Freeze the server for a while."""
        stopped = self.processes()
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        for process in stopped:
            process.send_signal(signal.SIGCONT)

    async def lock(self, seconds: float) -> None:
        """Hold the lock every writer needs, from another connection."""
        await asyncio.to_thread(self._lock, seconds)

    def _lock(self, seconds: float) -> None:
        if self.is_sqlite:
            connection = sqlite3.connect(str(self.url.database), timeout=30, isolation_level=None)
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            connection.close()
            return
        engine = make_engine(self._database_url)
        with engine.begin() as held:
            held.execute(text("LOCK TABLE assignments, judgments IN ACCESS EXCLUSIVE MODE"))
            time.sleep(seconds)
        engine.dispose()

    async def terminate_backends(self) -> None:
        """Terminate every connection of the server to PostgreSQL."""
        await asyncio.to_thread(self._terminate_backends)

    def _terminate_backends(self) -> None:
        engine = make_engine(self._database_url)
        with engine.connect() as connection:
            mine = "pid <> pg_backend_pid() AND datname = current_database()"
            connection.execute(
                text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}")
            )
        engine.dispose()

    def _backends(self) -> list[int]:
        engine = make_engine(self._database_url)
        with engine.connect() as connection:
            mine = "pid <> pg_backend_pid() AND datname = current_database()"
            statement = text(f"SELECT pid FROM pg_stat_activity WHERE {mine}")
            found = list(connection.scalars(statement))
        engine.dispose()
        return found

    def can_fill_disk(self) -> bool:
        """Return whether this user may limit the files of the processes that write."""
        if self.is_sqlite:
            return True
        try:
            _limit_files(self._backends()[0], psutil.RLIM_INFINITY)
        except (psutil.AccessDenied, IndexError):
            return False
        return True

    async def fill_disk(self, seconds: float) -> None:
        """Prevent files of the server, or of PostgreSQL, from growing for a while.

        PostgreSQL ends all its connections when it cannot write its log, and recovers.
        """
        if self.is_sqlite:
            pids = [process.pid for process in self.processes()]
            wal = Path(f"{self.url.database}-wal")
            most = wal.stat().st_size if wal.exists() else 0
        else:
            pids, most = await asyncio.to_thread(self._backends), 0
        for pid in pids:
            _limit_files(pid, most)
        await asyncio.sleep(seconds)
        for pid in pids:
            _limit_files(pid, psutil.RLIM_INFINITY)

    async def jump(self, offset: int, seconds: float) -> None:
        """Shift the server's clock forward or back for a while."""
        self._clock.shift(offset)
        await asyncio.sleep(seconds)
        self._clock.shift(0)


def _limit_files(pid: int, most: int) -> None:
    """Limit the files of a process, as its owner, who may where root in a container may not."""
    with suppress(psutil.NoSuchProcess):
        owner = psutil.Process(pid).uids().real
        if owner == os.getuid():
            psutil.Process(pid).rlimit(psutil.RLIMIT_FSIZE, (most, psutil.RLIM_INFINITY))
            return
        size = "unlimited" if most == psutil.RLIM_INFINITY else most
        command = ["prlimit", f"--pid={pid}", f"--fsize={size}:unlimited"]
        if subprocess.run(
            command, user=owner, capture_output=True
        ).returncode and psutil.pid_exists(pid):
            raise psutil.AccessDenied(pid)

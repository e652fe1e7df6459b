"""`topkapi work`: run background jobs."""

from __future__ import annotations

import logging
import multiprocessing
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import ended_by_signals, open_sessions
from topkapi.app.cli.running import RUNNING
from topkapi.app.installation.parent_process import end_with_parent

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings

commands = typer.Typer()

_LAST_SECONDS = 3.0  # for a worker to return its job
_PAUSES = (0.2, 3.0)  # seconds before a worker that ended is started again: first and longest
_LONG_LIFE = 60.0  # seconds after which a worker that ends is no sign of trouble
_log = logging.getLogger("topkapi.jobs")


@commands.command(epilog="Example: topkapi work --once")
def work(
    once: Annotated[bool, typer.Option("--once", help="Exit when no job is waiting.")] = False,
    lease: Annotated[
        float,
        typer.Option(min=1, max=3600, help="Seconds until a lost worker's job is taken over."),
    ] = 30.0,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers run the jobs.")
    ] = None,
    processes: Annotated[int, typer.Option(min=1, help="Parallel processes per job.")] = 1,
    name: Annotated[
        str | None, typer.Option(hidden=True, help="Name of a worker that replaces a lost one.")
    ] = None,
) -> None:
    """Run background jobs: models, confidence and reports. The server starts one worker itself."""
    from topkapi.app.services.jobs.worker import Worker, worker_name
    from topkapi.app.web.server.logs import configure_logs

    settings = Settings()
    configure_logs(settings.log_level)
    with open_sessions(settings) as sessions, ended_by_signals(signal.SIGTERM):
        worker = Worker(
            sessions,
            lease=timedelta(seconds=lease),
            dask=dask or settings.dask or None,
            processes=processes,
            name=name or worker_name(),
        )
        worker.run(until_empty=once)


@contextmanager
def working_beside() -> Iterator[None]:
    """Run `topkapi work` as a child process, and start it again whenever it ends.

    It ends with this process, however that ends.
    """
    supervisor = _Supervisor()
    watching = threading.Thread(target=supervisor.watch, name="work-watch", daemon=True)
    watching.start()
    try:
        yield
    finally:
        supervisor.stop()
        watching.join(2 * _LAST_SECONDS)


class _Supervisor:
    """Keeps one worker process alive; all its processes have one name, under which jobs are held.

    A process that ends soon is started again after a pause, which doubles up to `_PAUSES`.
    """

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
        self._name = f"serve-{secrets.token_hex(8)}"
        self._stopping = threading.Event()
        self._child = self._start()

    def _start(self) -> SpawnProcess:
        arguments = (self._name,)
        child = self._context.Process(target=_work_with_parent, args=arguments, name="topkapi-work")
        child.start()
        return child

    def watch(self) -> None:
        """Start the worker again until this process stops."""
        pause, longest = _PAUSES
        while not self._stopping.is_set():
            since = time.monotonic()
            self._child.join()
            if time.monotonic() - since > _LONG_LIFE:
                pause = _PAUSES[0]
            if self._stopping.wait(pause):
                return
            _log.error("the worker ended with %s; started again", self._child.exitcode)
            pause = min(2 * pause, longest)
            self._child = self._start()

    def stop(self) -> None:
        """End the worker, which returns its job first."""
        self._stopping.set()
        self._child.terminate()
        self._child.join(_LAST_SECONDS)
        self._child.kill()


def _work_with_parent(name: str) -> None:
    from topkapi.app.cli import main

    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the parent ends it
    main(["work", "--name", name])

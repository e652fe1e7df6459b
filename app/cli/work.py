"""`topkapi work`: run background jobs."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from topkapi.app.cli.common import open_sessions
from topkapi.app.cli.running import RUNNING
from topkapi.app.orphans import end_with_parent

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings

_LAST_SECONDS = 3.0  # for a worker to return its job


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    cli.command("work", epilog="Example: topkapi work --once")(work)


def work(
    once: Annotated[bool, typer.Option("--once", help="Exit when no job is waiting.")] = False,
    lease: Annotated[
        float,
        typer.Option(min=1, max=3600, help="Seconds until the job of a lost worker is retaken."),
    ] = 30.0,
    dask: Annotated[
        str | None, typer.Option(help="Address of a Dask scheduler whose workers compute.")
    ] = None,
    processes: Annotated[
        int, typer.Option(min=1, help="Processes that compute a job at the same time.")
    ] = 1,
) -> None:
    """Run background jobs: models, confidence and reports. The server starts one worker itself."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported; see `rank`
    from topkapi.app.services.jobs.worker import Worker
    from topkapi.app.web.server.logs import configure_logs

    settings = Settings()
    configure_logs(settings.log_level)
    with open_sessions(settings) as sessions, _ended_by_sigterm():
        worker = Worker(
            sessions,
            lease=timedelta(seconds=lease),
            dask=dask or settings.dask or None,
            processes=processes,
        )
        worker.run(until_empty=once)


@contextmanager
def working_beside() -> Iterator[None]:
    """Run `topkapi work` as a child process; it ends with this process, however that ends."""
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=_work_with_parent, name="topkapi-work")
    child.start()
    try:
        yield
    finally:
        child.terminate()
        child.join(_LAST_SECONDS)
        child.kill()


def _work_with_parent() -> None:
    from topkapi.app.cli import main

    end_with_parent()
    main(["work"])


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let SIGTERM end the process by an exception: the job in hand goes back to the queue."""

    def end(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

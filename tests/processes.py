"""Processes that end with the test that started them, and at the latest with the tests.

Each has a process group of its own, which is killed as a whole, stopped processes included.
"""

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Protocol

import psutil

# It outlives the tests, however they end, and then kills the groups that were named once.
_REAPER = """
import os, sys
groups = set()
for line in sys.stdin:
    groups ^= {int(line)}
for group in groups:
    try:
        os.killpg(group, 9)
    except ProcessLookupError:
        pass
"""
_reapers: list[subprocess.Popen[str]] = []


class ServerProcess(Protocol):
    """What tests do with the process of a server, however it was started."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...
    def wait(self) -> int: ...
    def kill(self) -> None: ...
    def terminate(self) -> None: ...


def own_variables() -> dict[str, str]:
    """Return the environment without the settings of the person who runs the tests."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TOPKAPI_")}


def toggle_reaping(group: int) -> None:
    """Have a process group killed when the tests end; called again, do not."""
    if not _reapers:
        command = [sys.executable, "-c", _REAPER]
        options: dict[str, Any] = {"stdin": subprocess.PIPE, "text": True}
        _reapers.append(subprocess.Popen(command, start_new_session=True, **options))
        atexit.register(_reapers[0].communicate)  # at the end of its input it reaps and ends
    print(group, file=_reapers[0].stdin, flush=True)


def start(command: Sequence[str | os.PathLike[str]], **options: Any) -> subprocess.Popen[Any]:
    """Start a process in a group of its own; end it with `end`."""
    process = subprocess.Popen(command, start_new_session=True, **options)
    toggle_reaping(process.pid)
    return process


def kill_group(group: int) -> None:
    """Kill the processes of a group that are left."""
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def end(process: ServerProcess) -> None:
    """Kill what is left of a process and of those that it started."""
    if process.poll() is None or not psutil.pid_exists(process.pid):  # else its number was reused
        kill_group(process.pid)
    process.wait()
    if isinstance(process, subprocess.Popen):
        toggle_reaping(process.pid)


@contextmanager
def running(
    command: Sequence[str | os.PathLike[str]], **options: Any
) -> Iterator[subprocess.Popen[Any]]:
    """Run a command while the context is open, and kill what is left of it."""
    with start(command, **options) as process:
        try:
            yield process
        finally:
            end(process)

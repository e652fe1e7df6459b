"""Ctrl-C ends a command at once, without a traceback."""

import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.processes import running
from tests.waiting import until

LOADING = """
import importlib, os, signal, topkapi.app.cli as cli
cli.import_module = lambda name: os.kill(os.getpid(), signal.SIGINT)
cli.main(["study", "list"])
"""
SIMULATING = """
import signal
from topkapi.app.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the tests run in background
main("simulate sessions --sorter robust --n 300 --k 30 --runs 400 --processes 2".split())
"""


def started(code: str) -> AbstractContextManager[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    return running([sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True)


def wait_for_workers(process: subprocess.Popen[str]) -> None:
    """Wait until two workers compute: Python ignores an interrupt that arrives during a fork."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    until(lambda: process.poll() is not None or sum(map(is_busy, children.read_text().split())) > 1)


def is_busy(pid: str) -> bool:
    """Return whether a process has used a fifth of a second of CPU time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK") > 0.2


def test_while_modules_load_nothing_is_printed() -> None:
    with started(LOADING) as process:
        out, err = process.communicate()
    assert (process.returncode, out, err) == (-signal.SIGINT, "", "")


@pytest.mark.thorough
def test_a_simulation_does_not_finish_its_chunks() -> None:
    with started(SIMULATING) as process:
        wait_for_workers(process)
        assert process.poll() is None
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in out + err

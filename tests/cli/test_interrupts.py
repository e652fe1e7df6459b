"""Ctrl-C ends a command at once, without a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LOADING = """
import importlib, os, signal, topkapi.app.cli as cli
cli.import_module = lambda name: os.kill(os.getpid(), signal.SIGINT)
cli.main(["study", "list"])
"""
SIMULATING = """
import signal
from topkapi.app.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the tests run in background
main("simulate --sorter robust --n 300 --k 30 --runs 400 --processes 2".split())
"""


def started(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def wait_for_workers(process: subprocess.Popen[str]) -> None:
    """Wait until two workers compute: Python ignores an interrupt that arrives during a fork."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and sum(map(is_busy, children.read_text().split())) < 2:
        time.sleep(0.05)


def is_busy(pid: str) -> bool:
    """Return whether a process has used a fifth of a second of CPU time."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK") > 0.2


def test_while_modules_load_nothing_is_printed() -> None:
    process = started(LOADING)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (-signal.SIGINT, "", "")


@pytest.mark.thorough
def test_a_simulation_does_not_finish_its_chunks() -> None:
    process = started(SIMULATING)
    wait_for_workers(process)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    try:
        out, err = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert "Traceback" not in out + err

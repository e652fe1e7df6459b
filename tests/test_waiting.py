"""What the tests wait for and start ends, also if a test fails or the run is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import processes, waiting

ENDLESS = [sys.executable, "-c", "import signal; signal.pause()"]
KILLED_RUN = """
import os, signal, sys
from tests import processes
started = processes.start([sys.executable, "-c", "import signal; signal.pause()"])
os.kill(started.pid, signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_wait_fails_by_the_watchdog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "WATCHDOG", 0.0)
    with pytest.raises(AssertionError, match="waited in vain for a row"):
        waiting.until(lambda: None, "a row")


def test_what_a_test_starts_ends_with_it() -> None:
    with pytest.raises(LookupError), processes.running(ENDLESS) as started:  # noqa: PT012
        os.kill(started.pid, signal.SIGSTOP)
        raise LookupError
    assert started.returncode == -signal.SIGKILL


def test_what_a_run_starts_ends_with_it_though_it_is_killed() -> None:
    """Its output has an end once every process that could write to it has ended."""
    command = [sys.executable, "-c", KILLED_RUN]
    ended = subprocess.run(
        command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, check=False
    )
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, b"")

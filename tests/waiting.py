"""Waiting for events: no test says how long something takes, and one watchdog ends what hangs.

The watchdog is pytest's (`faulthandler_timeout`): it ends the run with the stacks of all threads. A
single wait fails after half of that time, so that the test cleans up. Who repairs a test sets
TOPKAPI_TEST_WATCHDOG=60 and waits half a minute.
"""

import os
import time
import tomllib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_SETTINGS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
_SECONDS = (
    os.environ.get("TOPKAPI_TEST_WATCHDOG") or _SETTINGS["tool"]["pytest"]["faulthandler_timeout"]
)
WATCHDOG: float = float(_SECONDS) / 2


def until(found: Callable[[], T | None], what: str = "an event") -> T:
    """Wait until ``found`` returns something true, and return it."""
    end = time.monotonic() + WATCHDOG  # seconds: the only deadline of the tests
    while not (result := found()):
        assert time.monotonic() < end, f"waited in vain for {what}"  # seconds: of the watchdog
        time.sleep(0.01)  # seconds: between two looks
    return result


def be_patient(set_limit: Callable[[object, str, Any], None]) -> None:
    """Lengthen the limits that a starved machine would reach though nothing is wrong.

    Tests of a limit set it themselves.
    """
    from topkapi.app.db import engine, replica
    from topkapi.app.services.accounts import oidc
    from topkapi.app.services.fence import limits
    from topkapi.app.services.judging import teams
    from topkapi.app.web.access import slots
    from topkapi.app.web.server import gate

    for name in ("BUSY_MS", "REQUEST_BUSY_MS"):
        set_limit(engine, name, int(1000 * WATCHDOG))
    set_limit(engine, "POOL_SECONDS", WATCHDOG)
    set_limit(replica, "CATCH_UP_SECONDS", WATCHDOG)
    set_limit(limits, "STEP_WALL_SECONDS", WATCHDOG)
    set_limit(slots, "QUEUE_SECONDS", WATCHDOG)
    set_limit(gate, "IDLE_SECONDS", WATCHDOG)
    set_limit(oidc, "SECONDS", WATCHDOG)
    set_limit(teams, "LEASE", timedelta(seconds=WATCHDOG))

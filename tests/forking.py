"""Servers forked from a process that has imported the program and built an application once.

An import of the whole program takes two seconds of CPU time, the analysis of the routes and the
compilation of the templates another one; a fork takes none. Everything after that is the same as in
a new process.
"""

import atexit
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from tests.processes import kill_group, own_variables
from tests.waiting import be_patient, until

COMMAND = (sys.executable, "-c", "from tests.forking import fork_on_request; fork_on_request()")


class Forker:
    """The process that forks, started when it is first used; it ends with this process."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def start(self, arguments: Sequence[str], environment: dict[str, str], log: Path) -> "Forked":
        """Fork a process that runs `topkapi` with ``arguments`` and writes to ``log``."""
        return Forked(self.ask([list(arguments), environment, str(log)]), self)

    def ask(self, request: object) -> Any:
        """Send a request and return the reply."""
        with self._lock:
            self._process = self._process or _started()
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            print(json.dumps(request), file=self._process.stdin, flush=True)
            return json.loads(self._process.stdout.readline())


def _started() -> subprocess.Popen[str]:
    root = Path(__file__).parents[1]  # its `src` first: `bench.breaks` runs in a copy
    path = {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"}
    process = subprocess.Popen(
        COMMAND,
        env=own_variables() | path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests, with which it ends
    )
    atexit.register(process.communicate)  # at the end of its input it ends
    return process


@dataclass
class Forked:
    """A forked process. It keeps its number until `poll` has seen its end."""

    pid: int
    forker: Forker
    ended: int | None = field(default=None)

    def poll(self) -> int | None:
        """Return the exit code, or None while the process runs."""
        if self.ended is None:
            self.ended = self.forker.ask(self.pid)
        return self.ended

    def wait(self) -> int:
        """Wait until the process has ended and return its exit code."""
        until(lambda: self.poll() is not None, f"the end of process {self.pid}")
        assert self.ended is not None
        return self.ended

    def kill(self) -> None:
        """Kill the process, unless it has ended."""
        self._signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the process to end, unless it has."""
        self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> None:
        if self.ended is None:
            os.kill(self.pid, number)


def fork_on_request() -> None:
    """Fork for each request on standard input; a number asks for the exit code of a process."""
    import uvicorn.main  # noqa: F401
    import uvloop  # noqa: F401

    import topkapi.app.cli.serve
    import topkapi.app.web.server.protocol  # noqa: F401
    from topkapi.app.services.judging.warming import warm

    be_patient(setattr)
    warm()
    _build_once()
    running: set[int] = set()
    for line in sys.stdin:
        request = json.loads(line)
        if isinstance(request, int):
            reply = _exit_code(request)
            running -= {request} if reply is not None else set()
        else:
            reply = _fork(*request)
            running.add(reply)
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
    for pid in running:
        kill_group(pid)  # the tests were interrupted


def _build_once() -> None:
    """Build an application that nobody asks anything: what the process keeps of it, forks have."""
    from topkapi.app.config import Settings
    from topkapi.app.main import create_app, prepare_requests

    with TemporaryDirectory() as folder:
        settings = Settings(
            database_url=f"sqlite:///{folder}/none.db",
            secret_file=Path(folder, "secret"),
            upload_dir=Path(folder, "uploads"),
            _env_file=None,
        )
        app = create_app(settings)
        prepare_requests(app)
        for name in app.state.templates.list_templates():
            app.state.templates.get_template(name)
        app.state.engine.dispose()
        app.state.import_engine.dispose()
    gc.collect()
    gc.freeze()


def _exit_code(pid: int) -> int | None:
    found, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if found else None


def _fork(arguments: list[str], environment: dict[str, str], log: str) -> int:
    pid = os.fork()
    if pid == 0:
        _run(arguments, environment, log)
    with suppress(PermissionError):  # it has set its group itself
        os.setpgid(pid, pid)
    return pid


def _run(arguments: list[str], environment: dict[str, str], log: str) -> NoReturn:
    from topkapi.app.cli import main

    os.setpgid(0, 0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    os.environ.clear()
    os.environ.update(environment)
    code = 1
    try:
        main(arguments)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)

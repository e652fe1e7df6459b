"""The server as a process, for tests that kill it, measure it, or use a browser."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests.forking import Forker, ServerProcess

START_SECONDS = 90.0
FORKER = Forker()
Start = Callable[[Sequence[str], dict[str, str], Path], ServerProcess]
Wait = Callable[[str, ServerProcess, Path], None]


@dataclass
class LiveServer:
    """A running server: its address, its process, and its log file."""

    url: str
    process: ServerProcess
    log: Path
    database_url: str
    secret_file: Path

    def kill(self) -> None:
        """Kill the process, as a power failure would."""
        self.process.kill()
        self.process.wait(timeout=10)

    def stop(self) -> None:
        """Stop the process and check that it ends."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.kill()


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started_by(*command: str) -> Start:
    """Return a function that starts ``command`` as a new process."""

    def start(
        arguments: Sequence[str], environment: dict[str, str], log: Path
    ) -> subprocess.Popen[bytes]:
        with log.open("wb") as stream:
            return subprocess.Popen(
                [*command, *arguments], env=environment, stdout=stream, stderr=stream
            )

    return start


NEW = started_by(sys.executable, "-c", "from topkapi.app.cli import main; main()")


def wait_until_ready(url: str, process: ServerProcess, log: Path) -> None:
    """Wait until the server responds; if it does not start, fail with its log."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urlopen(f"{url}/readyz", timeout=2):
                return
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.05)
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


def wait_until_listening(url: str, process: ServerProcess, log: Path) -> None:
    """Wait until the server accepts a connection, without sending it a request."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("localhost", urlsplit(url).port or 80), timeout=2).close()
        except OSError:
            time.sleep(0.01)
        else:
            return
    raise RuntimeError(f"the server did not start:\n{log.read_text()}")


@contextmanager
def serving(
    database_url: str,
    folder: Path,
    *,
    port: int | None = None,
    start: Start = NEW,
    work: bool = False,
    wait: Wait = wait_until_ready,
    **settings: str,
) -> Iterator[LiveServer]:
    """Run `topkapi serve` on ``database_url`` while the context is open.

    With ``start=FORKER.start`` it starts in a tenth of the time; with ``work`` it runs background
    jobs.
    """
    port = port or free_port()
    log = folder / f"server-{port}.log"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TOPKAPI_")},
        "TOPKAPI_DATABASE_URL": database_url,
        "TOPKAPI_SECRET_FILE": str(folder / "topkapi.secret"),
        "TOPKAPI_UPLOAD_DIR": str(folder / "uploads"),
        **{f"TOPKAPI_{name.upper()}": value for name, value in settings.items()},
    }
    process = start(
        ["serve", "--port", str(port), "--work" if work else "--no-work"], environment, log
    )
    server = LiveServer(
        f"http://localhost:{port}", process, log, database_url, folder / "topkapi.secret"
    )
    try:
        wait(server.url, process, log)
        yield server
    finally:
        server.stop()

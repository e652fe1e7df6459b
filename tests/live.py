"""The server as a process, for tests that kill it, measure it, or use a browser."""

import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from tests import processes
from tests.forking import Forker
from tests.processes import ServerProcess, own_variables
from tests.waiting import until

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
        self.process.wait()

    def stop(self) -> None:
        """Ask the process to end, and wait until it has."""
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def started_by(*command: str) -> Start:
    """Return a function that starts ``command`` as a new process."""

    def start(arguments: Sequence[str], environment: dict[str, str], log: Path) -> ServerProcess:
        with log.open("wb") as stream:
            return processes.start(
                [*command, *arguments], env=environment, stdout=stream, stderr=stream
            )

    return start


NEW = started_by(sys.executable, "-c", "from topkapi.app.cli import main; main()")


def _is_ready(url: str) -> bool:
    with suppress(URLError, ConnectionError), urlopen(f"{url}/readyz"):
        return True
    return False


def _is_listening(url: str) -> bool:
    with suppress(OSError), socket.create_connection(("localhost", urlsplit(url).port or 80)):
        return True
    return False


def _waiting_for(answers: Callable[[str], bool]) -> Wait:
    def wait(url: str, process: ServerProcess, log: Path) -> None:
        until(lambda: process.poll() is not None or answers(url), f"the server at {url}")
        if process.poll() is not None:
            raise RuntimeError(f"the server did not start:\n{log.read_text()}")

    return wait


wait_until_ready = _waiting_for(_is_ready)
wait_until_listening = _waiting_for(_is_listening)


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
        **own_variables(),
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
        server.stop()
    finally:
        processes.end(process)

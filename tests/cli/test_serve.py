import json
import os
import pty
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Event

import psutil
import pytest

from tests import processes
from tests.chat_endpoint import ChatEndpoint, serving_chat
from tests.clients import connect, form_token, get
from tests.databases import transaction_on
from tests.factories import PASSWORD, make_user
from tests.live import FORKER, LiveServer, serving, started_by
from tests.ranked import make_ranked_study
from tests.waiting import until
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Job, Study
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs import store
from topkapi.app.services.machines.terms import Terms

pytestmark = pytest.mark.server


def test_the_real_server_answers_and_logs_json(live_server: LiveServer) -> None:
    answer = get(f"{live_server.url}/sign-in")
    assert answer.status_code == 200
    assert "server" not in answer.headers
    live_server.stop()
    lines = live_server.log.read_text().splitlines()
    assert any("Application shutdown complete" in line for line in lines)
    requests = [json.loads(line) for line in lines if '"topkapi.requests"' in line]
    assert {"path": "/sign-in", "status": 200}.items() <= requests[-1].items()


def test_a_terminal_shows_the_address_and_plain_lines(sqlite_url: str, tmp_path: Path) -> None:
    ours, its = pty.openpty()

    def start(
        arguments: Sequence[str], environment: dict[str, str], _log: Path
    ) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", "from topkapi.app.cli import main; main()", *arguments]
        return processes.start(command, env=environment, stdout=its, stderr=its)

    shown = ""
    with serving(sqlite_url, tmp_path, start=start) as server:
        assert get(f"{server.url}/healthz").status_code == 200
        while "/healthz" not in shown:
            shown += os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(its)
    lines = shown.splitlines()
    assert lines[0].startswith(f"Topkapi listens at {server.url} (")
    assert not any(line.startswith("{") for line in lines)
    assert any(re.fullmatch(r"\d\d:\d\d:\d\d GET /healthz 200 \d+ ms", line) for line in lines)


def test_an_sqlite_file_is_made_at_the_first_start_and_outlives_a_kill(
    tmp_path: Path, start_server: Callable[[str], LiveServer]
) -> None:
    url = f"sqlite:///{tmp_path / 'new.db'}"
    first = start_server(url)
    secret = first.secret_file.read_text()
    first.kill()
    second = start_server(url)
    assert get(f"{second.url}/readyz").json()["status"] == "ready"
    assert second.secret_file.read_text() == secret
    with sqlite3.connect(tmp_path / "new.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_several_workers_share_sign_ins_and_end_together(sqlite_url: str, tmp_path: Path) -> None:
    with transaction_on(sqlite_url) as session:
        make_user(session, email="demo@example.org", password=PASSWORD, demo=True)
    with serving(sqlite_url, tmp_path, workers="2") as server, connect() as client:
        assert "Demo sign-ins, on this machine only" in server.log.read_text()
        token = form_token(client.get(f"{server.url}/sign-in"))
        fields = {"email": "demo@example.org", "password": PASSWORD, "csrf_token": token}
        assert client.post(f"{server.url}/sign-in", data=fields).status_code == 303
        for _ in range(8):
            headers = {"Connection": "close"}
            assert client.get(f"{server.url}/", headers=headers).status_code == 200


@pytest.fixture
def checkout_command(tmp_path: Path) -> Path:
    """Create the command that `make setup` writes, in a separate environment."""
    environment = tmp_path / "a venv"
    venv.create(environment, symlinks=True)
    root = Path(__file__).parents[2]
    site = next((environment / "lib").glob("python*/site-packages"))
    (site / "libraries.pth").write_text("\n".join(path for path in sys.path if path))
    subprocess.run([root / ".ci/link-checkout", environment / "bin"], cwd=root, check=True)
    return environment / "bin" / "topkapi"


def two_workers(server: LiveServer, without: list[int]) -> list[int] | None:
    """Return the workers of a server if there are two, all of them new."""
    workers = workers_of(server.process.pid)
    return workers if len(workers) == 2 and not {*workers} & {*without} else None


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a server."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for child in read_of(task).split()]
    return [c for c in children if b"spawn_main" in read_of(Path(f"/proc/{c}/cmdline"))]


def read_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # ended meanwhile
        return b""


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads processes from /proc")
def test_workers_serve_from_a_checkout_and_end_with_a_killed_parent(
    sqlite_url: str, tmp_path: Path, checkout_command: Path
) -> None:
    with serving(
        sqlite_url, tmp_path, workers="2", start=started_by(str(checkout_command))
    ) as server:
        workers = workers_of(server.process.pid)
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        workers = until(partial(two_workers, server, without=workers[:1]), "a new worker")
        os.kill(server.process.pid, signal.SIGHUP)
        workers = until(partial(two_workers, server, without=workers), "two new workers")
        server.secret_file.write_text("too short: no further worker can start")
        os.kill(server.process.pid, signal.SIGHUP)
        until(lambda: "the others stay" in server.log.read_text(), "a successor that cannot start")
        assert workers_of(server.process.pid) == workers
        server.kill()
        until(lambda: not any(is_alive(pid) for pid in workers), "the end of the workers")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads processes from /proc")
@pytest.mark.parametrize("end", ["kill", "stop"])
def test_the_server_starts_a_worker_for_jobs_that_ends_with_it(
    sqlite_url: str, tmp_path: Path, end: str
) -> None:
    with serving(sqlite_url, tmp_path, work=True, start=FORKER.start) as server:
        children = workers_of(server.process.pid)
        assert len(children) == 1
        getattr(server, end)()
        until(lambda: not is_alive(children[0]), "the end of the worker")


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads processes from /proc")
def test_the_end_of_a_worker_is_logged_as_json(sqlite_url: str, tmp_path: Path) -> None:
    with serving(sqlite_url, tmp_path, workers="2", work=True) as server:
        os.kill(min(workers_of(server.process.pid)), signal.SIGKILL)  # started first
        until(lambda: "ended with -9" in server.log.read_text(), "the end of the worker")
        (line,) = (each for each in server.log.read_text().splitlines() if "with -9" in each)
    assert json.loads(line)["message"] == "the worker ended with -9; started again"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads processes from /proc")
def test_a_killed_worker_is_started_again_and_its_job_ends(sqlite_url: str, tmp_path: Path) -> None:
    sessions = make_sessions(make_engine(sqlite_url))
    never = Event()
    silent = ChatEndpoint(model=lambda _prompt: str(never.wait()))

    def job(job_id: int) -> Job:
        with sessions.read() as session:
            return session.get_one(Job, job_id)

    def has_been_taken(job_id: int, attempt: int) -> bool:
        return job(job_id).state.final or job(job_id).attempts == attempt

    def other_workers(pid: int) -> set[int]:
        return set(workers_of(server.process.pid)) - {pid}

    with (
        serving_chat(silent),
        serving(
            sqlite_url, tmp_path, work=True, start=FORKER.start, model_key=silent.key
        ) as server,
    ):
        with sessions.write.begin() as session:
            study = make_ranked_study(session, slug="ranked", queries=1, documents=4)
            terms = Terms.read({"model": "silent", "endpoint": silent.address})
            first = store.queue_job(session, study, "judge", terms.as_json()).id
        holders = set()
        for attempt in range(1, 5):  # three of them while it has the job, which then has failed
            until(partial(has_been_taken, first, attempt), f"attempt {attempt}")
            holders.add(job(first).worker)
            (worker,) = workers_of(server.process.pid)
            os.kill(worker, signal.SIGKILL)
            until(partial(other_workers, worker), "a new worker")
        assert len(holders) == 1, "it takes its own job at once, not after the lease"
        assert job(first).state is JobState.FAILED
        assert "ended 3 times" in job(first).message
        with sessions.write.begin() as session:
            study = session.get_one(Study, study.id)
            second = store.queue_job(session, study, "confidence", {}).id
        until(lambda: job(second).state is JobState.DONE, "the last worker's job")
        never.set()


PATIENT = """
from topkapi.app.cli import main
from topkapi.app.web.server import processes, supervisor
supervisor.SILENT_SECONDS = float("inf")  # the test stops processes, which then do not reply
processes.GRACE_SECONDS = None
main()
"""


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_closes_the_door_and_answers_who_is_inside_or_has_connected(
    sqlite_url: str, tmp_path: Path, workers: str
) -> None:
    """Let clients connect while no process can accept them, and ask the server to end."""
    patient = started_by(sys.executable, "-c", PATIENT)
    with (
        serving(sqlite_url, tmp_path, workers=workers, start=patient) as server,
        ExitStack() as stack,
    ):
        address = ("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        inside = stack.enter_context(socket.create_connection(address))
        head = "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
        form = "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        inside.sendall((head + form + "a=").encode())
        assert get(f"{server.url}/healthz").status_code == 200
        parent = psutil.Process(server.process.pid)
        spawned = [each for each in parent.children() if "spawn_main" in " ".join(each.cmdline())]
        stopped = spawned or [parent]
        for each in stopped:
            each.suspend()
            until(partial(is_stopped, each), "a stopped process")
        clients = [stack.enter_context(socket.create_connection(address)) for _ in range(40)]
        for client in clients:
            client.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        server.process.terminate()
        for each in stopped:
            until(partial(is_asked_to_end, each), "SIGTERM")
            each.resume()
        assert {client.recv(12) for client in clients} == {b"HTTP/1.1 200"}
        until(partial(is_refused, address), "a server that accepts no connections")
        assert server.process.poll() is None
        inside.sendall(b"1&")
        assert inside.recv(1000).startswith(b"HTTP/1.1 4")
        assert server.process.wait() in (0, -signal.SIGTERM)


def test_every_worker_tells_a_monitor_the_requests_of_all(sqlite_url: str, tmp_path: Path) -> None:
    with serving(sqlite_url, tmp_path, workers="2", metrics_token="a token") as server:
        for _ in range(30):
            assert get(f"{server.url}/healthz").status_code == 200
        headers = {"Authorization": "Bearer a token"}
        answers = [get(f"{server.url}/metrics", headers=headers).text for _ in range(10)]
    counted = 'topkapi_request_seconds_count{method="GET",path="/healthz",status="200"} 30.0'
    assert all(counted in answer.splitlines() for answer in answers)


def is_stopped(process: psutil.Process) -> bool:
    return bool(process.status() == psutil.STATUS_STOPPED)


def is_asked_to_end(process: psutil.Process) -> bool:
    """Return whether SIGTERM waits for a process that is stopped."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return bool(int(status.partition("ShdPnd:")[2].split()[0], 16) & 1 << (signal.SIGTERM - 1))


def is_refused(address: tuple[str, int]) -> bool:
    """Return whether nobody listens; who connects at the very moment may be cut off."""
    try:
        with socket.create_connection(address) as client:
            client.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
            client.recv(10)
            return False
    except ConnectionRefusedError:
        return True
    except ConnectionError:
        return False


def test_a_taken_port_is_said_in_one_line(sqlite_url: str, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        outcome = subprocess.run(
            [
                sys.executable,
                "-c",
                "from topkapi.app.cli import main; main()",
                "serve",
                "--port",
                port,
            ],
            env={"TOPKAPI_DATABASE_URL": sqlite_url, "PATH": "/usr/bin"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert outcome.returncode == 1
    assert outcome.stderr.count("\n") == 1
    assert f"port {port}" in outcome.stderr

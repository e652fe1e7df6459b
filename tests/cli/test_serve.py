import json
import os
import pty
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import httpx
import psutil
import pytest

from tests.factories import PASSWORD, make_user
from tests.live import FORKER, LiveServer, serving, started_by
from tests.services.test_job_kinds import choice, labelled_study
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Job, Study
from topkapi.app.domain.enums import JobState
from topkapi.app.services.jobs import store

pytestmark = pytest.mark.server


def test_the_real_server_answers_and_logs_json(live_server: LiveServer) -> None:
    answer = httpx.get(f"{live_server.url}/sign-in")
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
        return subprocess.Popen(command, env=environment, stdout=its, stderr=its)

    shown = ""
    with serving(sqlite_url, tmp_path, start=start) as server:
        assert httpx.get(f"{server.url}/healthz").status_code == 200
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
    assert httpx.get(f"{second.url}/readyz").json()["status"] == "ready"
    assert second.secret_file.read_text() == secret
    with sqlite3.connect(tmp_path / "new.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_several_workers_share_sign_ins_and_end_together(sqlite_url: str, tmp_path: Path) -> None:
    engine = make_engine(sqlite_url)
    with make_sessions(engine).write.begin() as session:
        make_user(session, email="demo@example.org", password=PASSWORD, demo=True)
    engine.dispose()
    with serving(sqlite_url, tmp_path, workers="2") as server:
        with httpx.Client() as client:
            assert "Demo sign-ins, on this machine only" in server.log.read_text()
            page = client.get(f"{server.url}/sign-in").text
            token = page.split('name="csrf_token" value="')[1].split('"')[0]
            fields = {"email": "demo@example.org", "password": PASSWORD, "csrf_token": token}
            assert client.post(f"{server.url}/sign-in", data=fields).status_code == 303
            for _ in range(8):
                headers = {"Connection": "close"}
                assert client.get(f"{server.url}/", headers=headers).status_code == 200
        closes_the_door_at_once_and_answers_who_is_inside(server)


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
        server.kill()
        deadline = time.monotonic() + 30
        while any(is_alive(pid) for pid in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(is_alive(pid) for pid in workers)
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
        deadline = time.monotonic() + 30
        while is_alive(children[0]) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_alive(children[0])


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads processes from /proc")
def test_the_end_of_a_worker_is_logged_as_json(sqlite_url: str, tmp_path: Path) -> None:
    with serving(sqlite_url, tmp_path, workers="2", work=True) as server:
        os.kill(min(workers_of(server.process.pid)), signal.SIGKILL)  # started first
        within(60, lambda: "ended with -9" in server.log.read_text(), "nothing is logged")
        (line,) = (each for each in server.log.read_text().splitlines() if "with -9" in each)
    assert json.loads(line)["message"] == "the worker ended with -9; started again"


def _other_workers(pid: int, gone: int) -> set[int]:
    return set(workers_of(pid)) - {gone}


def within(seconds: float, found: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="reads processes from /proc")
def test_a_killed_worker_is_started_again_and_its_job_ends(sqlite_url: str, tmp_path: Path) -> None:
    sessions = make_sessions(make_engine(sqlite_url))
    with sessions.write.begin() as session:
        study = labelled_study(session, queries=12)
        models = ["listmle", "ranknet", "rankboost", "focused-net", "adarank", "lightgbm"]
        first = store.queue_job(session, study, "models", choice(models=models)).id

    def job() -> Job:
        with sessions.read() as session:
            return session.get_one(Job, first)

    with serving(sqlite_url, tmp_path, work=True, start=FORKER.start) as server:
        attempts: set[int] = set()
        for kill in range(6):  # three of them while it has the job, which then has failed
            within(30, lambda: job().state is not JobState.QUEUED, "no worker takes the job")
            if not job().state.final:  # the new worker takes it at once, not after the lease
                within(20, lambda: job().state.final or job().attempts not in attempts, "not taken")
                attempts.add(job().attempts)
            (worker,) = workers_of(server.process.pid)
            os.kill(worker, signal.SIGKILL)
            new = partial(_other_workers, server.process.pid, worker)
            within(5, new, f"no new worker after kill {kill}")
        assert attempts == {1, 2, 3}
        assert job().state is JobState.FAILED
        assert "ended 3 times" in job().message
        with sessions.write.begin() as session:
            study = session.get_one(Study, study.id)
            second = store.queue_job(session, study, "confidence", {}).id

        def done() -> bool:
            with sessions.read() as session:
                return session.get_one(Job, second).state is JobState.DONE

        within(60, done, "the last worker runs no jobs")


def test_sigterm_closes_the_door_at_once_and_answers_who_is_inside(
    sqlite_url: str, tmp_path: Path
) -> None:
    with serving(sqlite_url, tmp_path, start=FORKER.start) as server:
        closes_the_door_at_once_and_answers_who_is_inside(server)


def closes_the_door_at_once_and_answers_who_is_inside(server: LiveServer) -> None:
    address = ("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
    with socket.create_connection(address, timeout=30) as inside:
        head = "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
        form = "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
        inside.sendall((head + form + "a=").encode())
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        server.process.terminate()
        within(20, lambda: is_refused(address), "the server still accepts connections")
        assert server.process.poll() is None
        inside.sendall(b"1&")
        assert inside.recv(1000).startswith(b"HTTP/1.1 4")
    assert server.process.wait(timeout=30) in (0, -signal.SIGTERM)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_sigterm_answers_who_has_connected(sqlite_url: str, tmp_path: Path, workers: str) -> None:
    """Let clients connect while no process can accept them, and ask the server to end."""
    with serving(sqlite_url, tmp_path, workers=workers) as server, ExitStack() as stack:
        parent = psutil.Process(server.process.pid)
        spawned = [each for each in parent.children() if "spawn_main" in " ".join(each.cmdline())]
        stopped = spawned or [parent]
        for each in stopped:
            each.suspend()
            within(20, partial(is_stopped, each), "the process goes on")
        address = ("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        clients = [
            stack.enter_context(socket.create_connection(address, timeout=30)) for _ in range(40)
        ]
        for client in clients:
            client.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        server.process.terminate()
        for each in stopped:
            within(20, partial(is_asked_to_end, each), "SIGTERM is not sent")
            each.resume()
        assert {client.recv(12) for client in clients} == {b"HTTP/1.1 200"}


def test_every_worker_tells_a_monitor_the_requests_of_all(sqlite_url: str, tmp_path: Path) -> None:
    with serving(sqlite_url, tmp_path, workers="2", metrics_token="a token") as server:
        for _ in range(30):
            assert httpx.get(f"{server.url}/healthz").status_code == 200
        headers = {"Authorization": "Bearer a token"}
        answers = [httpx.get(f"{server.url}/metrics", headers=headers).text for _ in range(10)]
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
        with socket.create_connection(address, timeout=10) as client:
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
            timeout=60,
            check=False,
        )
    assert outcome.returncode == 1
    assert outcome.stderr.count("\n") == 1
    assert f"port {port}" in outcome.stderr

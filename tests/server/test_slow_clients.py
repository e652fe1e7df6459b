"""Clients that send or read slowly, or too much: raw sockets against the real server."""

import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from tests.live import free_port
from topkapi.app.web.server.protocol import BoundedProtocol

pytestmark = pytest.mark.server
LARGE = 3_000_000


class QuickProtocol(BoundedProtocol):
    """The same limits, short enough to be reached within a test."""

    HEAD_SECONDS = 0.3
    REST_SECONDS = 0.3
    STALL_SECONDS = 0.3
    MOST_CONNECTIONS = 20


async def program(scope: Scope, _receive: Receive, send: Send) -> None:
    """Respond at once without reading the body, with a large response for /large."""
    if scope["type"] != "http":
        return
    body = b"x" * (LARGE if scope["path"] == "/large" else 2)
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    for begin in range(0, len(body), 50_000):
        block = body[begin : begin + 50_000]
        more = begin + 50_000 < len(body)
        await send({"type": "http.response.body", "body": block, "more_body": more})


@contextmanager
def serving(protocol: type[BoundedProtocol]) -> Iterator[tuple[uvicorn.Server, int]]:
    port = free_port()
    config = uvicorn.Config(
        program, host="127.0.0.1", port=port, http=protocol, timeout_keep_alive=1, log_config=None
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server, port
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[uvicorn.Server, int]]:
    with serving(QuickProtocol) as running:
        yield running


def connect(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=10)
    client.sendall(sent)
    return client


def drip(client: socket.socket, pieces: Iterable[bytes], seconds: float = 0.002) -> bool:
    """Send piece by piece; return whether the server closed the connection meanwhile."""
    try:
        for piece in pieces:
            client.sendall(piece)
            time.sleep(seconds)
    except OSError:
        return True
    return False


def read_to_end(client: socket.socket) -> bytes:
    """Read until the server closes the connection; fail if it does not."""
    found = b""
    while True:
        try:
            block = client.recv(65536)
        except ConnectionResetError:
            return found
        if not block:
            return found
        found += block


@pytest.mark.parametrize(
    "sent",
    [b"", b"\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 1000],
)
def test_a_head_that_is_never_complete_is_given_up(
    server: tuple[uvicorn.Server, int], sent: bytes
) -> None:
    with connect(server[1], sent) as client:
        assert read_to_end(client) == b""


def test_a_head_that_comes_byte_by_byte_has_no_more_time(
    server: tuple[uvicorn.Server, int],
) -> None:
    with connect(server[1], b"GET / HTTP/1.1\r\nX: ") as client:
        assert drip(client, [b"a"] * 5000)


def test_line_ends_do_not_keep_a_connection_open(server: tuple[uvicorn.Server, int]) -> None:
    with connect(server[1], b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        assert drip(client, [b"\r\n"] * 1000, seconds=0.01)


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_head_that_is_too_large_is_refused(
    server: tuple[uvicorn.Server, int], end: bytes
) -> None:
    with connect(server[1]) as client:
        try:
            client.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + end)
        except OSError:
            return  # it was closed while we were sending
        assert read_to_end(client)[:12] in (b"HTTP/1.1 431", b"")


def test_many_headers_in_one_piece_are_refused(server: tuple[uvicorn.Server, int]) -> None:
    head = b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: aaaaaaaa\r\n" % n for n in range(5000))
    with connect(server[1], head + b"\r\n") as client:
        assert read_to_end(client)[:12] in (b"HTTP/1.1 431", b"")


def test_the_rest_of_a_body_after_the_response_is_not_waited_for(
    server: tuple[uvicorn.Server, int],
) -> None:
    with connect(
        server[1], b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"
    ) as client:
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        assert drip(client, [b"a"] * 5000)


def test_a_rest_that_comes_soon_does_no_harm(server: tuple[uvicorn.Server, int]) -> None:
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    with connect(server[1], request) as client:
        for _ in range(3):
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            client.sendall(b"abcde" + request)


def test_a_reader_who_takes_nothing_is_cut_off(server: tuple[uvicorn.Server, int]) -> None:
    running, port = server
    before = len(running.server_state.connections)
    with connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"):
        deadline = time.monotonic() + 10
        while len(running.server_state.connections) <= before and time.monotonic() < deadline:
            time.sleep(0.01)
        while len(running.server_state.connections) > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(running.server_state.connections) <= before


def test_a_client_who_leaves_a_pipeline_is_no_fault(
    server: tuple[uvicorn.Server, int], caplog: pytest.LogCaptureFixture
) -> None:
    running, port = server
    with connect(port, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 3) as client:
        client.recv(1000)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    deadline = time.monotonic() + 10
    while running.server_state.tasks and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not running.server_state.tasks
    assert "Exception in ASGI application" not in caplog.text


def test_a_reader_who_goes_on_gets_everything(server: tuple[uvicorn.Server, int]) -> None:
    assert len(httpx.get(f"http://127.0.0.1:{server[1]}/large").content) == LARGE


def test_idle_connections_do_not_keep_others_out(server: tuple[uvicorn.Server, int]) -> None:
    port = server[1]
    idle = [connect(port) for _ in range(3 * QuickProtocol.MOST_CONNECTIONS)]
    assert httpx.get(f"http://127.0.0.1:{port}/").text == "xx"
    for client in idle:
        client.close()


def test_an_old_connection_ends_with_its_response() -> None:
    class OldProtocol(BoundedProtocol):
        AGE_SECONDS = -1.0

    with serving(OldProtocol) as (_, port):
        assert httpx.get(f"http://127.0.0.1:{port}/").headers["connection"] == "close"

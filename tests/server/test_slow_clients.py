"""Clients that send or read slowly, or too much: raw sockets against the real server."""

import socket
import struct
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, cast

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from tests.clients import get
from tests.live import free_port
from tests.threads import GivenLoop
from tests.waiting import until
from topkapi.app.web.server.protocol import BoundedProtocol

pytestmark = pytest.mark.server
LARGE = 3_000_000
HEAD, REST = BoundedProtocol.HEAD_SECONDS, BoundedProtocol.REST_SECONDS


class SmallProtocol(BoundedProtocol):
    """The same limits, with fewer connections."""

    MOST_CONNECTIONS = 20


class Running(NamedTuple):
    """A server in a thread; no time passes unless a test says so."""

    server: uvicorn.Server
    port: int
    clock: GivenLoop

    def connection(self, client: socket.socket) -> BoundedProtocol:
        """Return the server's end of a client's connection, once it is there."""
        name, state = client.getsockname(), self.server.server_state

        def mine() -> list[BoundedProtocol]:
            every = cast(set[BoundedProtocol], state.connections)
            return [each for each in every.copy() if each.client == name]

        return until(mine, "a connection")[0]

    def has_received(self, client: socket.socket, size: int) -> None:
        """Wait until the server has so many bytes of the head or body of a request."""
        found = self.connection(client)
        until(lambda: found._head_bytes == size, f"{size} bytes")


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
def serving(protocol: type[BoundedProtocol]) -> Iterator[Running]:
    port, clock = free_port(), GivenLoop()
    config = uvicorn.Config(program, host="127.0.0.1", port=port, http=protocol, log_config=None)
    server = uvicorn.Server(config)
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(clock.run, server.serve())
        until(lambda: server.started or ended.done(), "the start of the server")
        try:
            yield Running(server, port, clock)
        finally:
            server.should_exit = True
            clock.step = 1.0  # it ends soon
            ended.result()


@pytest.fixture(scope="module")
def server() -> Iterator[Running]:
    with serving(SmallProtocol) as running:
        yield running


def connect(server: Running, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(sent)
    return client


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
    "sent", [b"", b"\r\n", b"GET / HTTP/1.1\r\nHost: x\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 1000]
)
def test_a_head_that_is_never_complete_is_given_up(server: Running, sent: bytes) -> None:
    with connect(server, sent) as client:
        server.has_received(client, len(sent))
        server.clock.pass_by(HEAD - 1)
        assert not server.connection(client).transport.is_closing()
        server.clock.pass_by(1)
        assert read_to_end(client) == b""


def test_a_head_that_comes_byte_by_byte_has_no_more_time(server: Running) -> None:
    with connect(server, b"GET / HTTP/1.1\r\nX: ") as client:
        for size in range(19, 24):
            server.has_received(client, size)
            server.clock.pass_by(HEAD / 5)
            client.sendall(b"a")
        assert read_to_end(client) == b""


def test_line_ends_do_not_keep_a_connection_open(server: Running) -> None:
    with connect(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        for size in (2, 4):
            client.sendall(b"\r\n")
            server.has_received(client, size)
            server.clock.pass_by(HEAD / 2)
        assert read_to_end(client) == b""


@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_head_that_is_too_large_is_refused(server: Running, end: bytes) -> None:
    with connect(server) as client:
        try:
            client.sendall(b"GET / HTTP/1.1\r\nX: " + b"a" * 70_000 + end)
        except OSError:
            return  # it was closed while we were sending
        assert read_to_end(client)[:12] in (b"HTTP/1.1 431", b"")


def test_many_headers_in_one_piece_are_refused(server: Running) -> None:
    head = b"GET / HTTP/1.1\r\n" + b"".join(b"X-%d: aaaaaaaa\r\n" % n for n in range(5000))
    with connect(server, head + b"\r\n") as client:
        assert read_to_end(client)[:12] in (b"HTTP/1.1 431", b"")


def test_the_rest_of_a_body_after_the_response_is_not_waited_for(server: Running) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n"
    with connect(server, head) as client:
        assert client.recv(65536).startswith(b"HTTP/1.1 200")
        for sent in (1, 2):
            client.sendall(b"a")
            server.has_received(client, len(head) + sent)
            server.clock.pass_by(REST / 2)
        assert read_to_end(client) == b""


def test_a_rest_that_comes_soon_does_no_harm(server: Running) -> None:
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    with connect(server, request) as client:
        for _ in range(3):
            assert client.recv(65536).startswith(b"HTTP/1.1 200")
            client.sendall(b"abcde" + request)


def test_a_reader_who_takes_nothing_is_cut_off(server: Running) -> None:
    with connect(server, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") as client:
        cut_off = server.connection(client)
        until(lambda: cut_off.flow.write_paused, "a full buffer")
        # Whenever the system's buffers accept more, the time starts again.
        while not cut_off.transport.is_closing():
            server.clock.pass_by(cut_off.STALL_SECONDS)


def test_a_client_who_leaves_a_pipeline_is_no_fault(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(server, b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 3) as client:
        client.recv(1000)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    until(lambda: not server.server.server_state.tasks, "the end of its requests")
    assert "Exception in ASGI application" not in caplog.text


def test_a_reader_who_goes_on_gets_everything(server: Running) -> None:
    assert len(get(f"http://127.0.0.1:{server.port}/large").content) == LARGE


def test_idle_connections_do_not_keep_others_out(server: Running) -> None:
    idle = [connect(server) for _ in range(3 * SmallProtocol.MOST_CONNECTIONS)]
    assert get(f"http://127.0.0.1:{server.port}/").text == "xx"
    for client in idle:
        client.close()


def test_an_old_connection_ends_with_its_response() -> None:
    class OldProtocol(BoundedProtocol):
        AGE_SECONDS = -1.0  # seconds: every connection is older

    with serving(OldProtocol) as (_, port, _):
        assert get(f"http://127.0.0.1:{port}/").headers["connection"] == "close"

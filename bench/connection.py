"""A light HTTP/1.1 client for benchmarks: one keep-alive connection, only bytes."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

TRANSPORT_ERRORS = (OSError, EOFError)  # no reply: refused, disconnected or timed out


@dataclass(frozen=True, slots=True)
class Reply:
    """A response as received."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode()


class Connection:
    """Sends one request after another; reconnects after a failure."""

    def __init__(self, url: str, *, timeout: float = 10.0, local: str | None = None) -> None:
        self.url = url
        self._local = (local, 0) if local else None
        parts = urlsplit(url)
        assert parts.hostname is not None
        self._host, self._port = parts.hostname, parts.port or 80
        self._timeout = timeout
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    def another(self) -> "Connection":
        """Return a new connection to the same server."""
        return Connection(self.url, timeout=self._timeout)

    async def request(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> Reply:
        """Send a request and read its whole response."""
        try:
            async with asyncio.timeout(self._timeout):
                reader, writer = await self._opened()
                writer.write(self.encoded(method, path, headers, body))
                reply = await _read(reader, method)
        except BaseException:
            self.close()
            raise
        if reply.headers.get("connection") == "close":
            self.close()
        return reply

    async def cut(self, data: bytes, *, after: float = 0.0) -> None:
        """Send bytes and disconnect after ``after`` seconds, without reading."""
        try:
            async with asyncio.timeout(self._timeout):
                _, writer = await self._opened()
                writer.write(data)
                await writer.drain()
                await asyncio.sleep(after)
        finally:
            self.close()

    def encoded(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        """Return the bytes of a request."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}:{self._port}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(body)}"] if body or method == "POST" else []
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _opened(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is not None and self._streams[0].at_eof():
            self.close()  # the server has closed it meanwhile, as it does after some idle seconds
        if self._streams is None:
            self._streams = await asyncio.open_connection(
                self._host, self._port, local_addr=self._local
            )
        return self._streams


async def _read(reader: asyncio.StreamReader, method: str) -> Reply:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    status = int(head[0].split(" ", 2)[1])
    if method == "HEAD" or status in (204, 304):
        return Reply(status, headers, b"")
    if headers.get("transfer-encoding") == "chunked":
        return Reply(status, headers, await _chunks(reader))
    return Reply(status, headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    found = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        found += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return found

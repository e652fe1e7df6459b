"""A transport that joins the head and the body of a response into one write.

uvicorn writes them one after the other. Each write is a system call that wakes the client, and the
first one wakes it for nothing.
"""

from asyncio import AbstractEventLoop, Transport
from typing import Any


class JoinedWrites:
    """Joins what is written in one step of the event loop; all else is the transport's."""

    def __init__(self, transport: Transport, loop: AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write the data at the end of this step of the event loop."""
        if not self._parts:
            self._loop.call_soon(self._flush)
        self._parts.append(data)

    def close(self) -> None:
        """Close the connection after what was written has been sent."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        parts, self._parts = self._parts, []
        if parts and not self._transport.is_closing():
            self._transport.write(parts[0] if len(parts) == 1 else b"".join(parts))

"""HTTP with limits that uvicorn lacks: on the head of a request, idle clients, and slow readers.

A connection is closed when the head of a request is too large or takes too long, when an unwanted
rest of a body keeps arriving, when the client reads nothing for a while, and after its last
response when it is old. When there are too many connections, the one that has waited longest for
its client is closed, so that idle connections cannot lock others out (uvicorn's
`limit_concurrency` would refuse the newest ones).
"""

import resource
import select
from asyncio import AbstractEventLoop, TimerHandle, Transport
from collections.abc import Callable
from socket import SO_SNDBUF, SOL_SOCKET, socket
from typing import Any, ClassVar, cast

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)


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


def _most_connections() -> int:
    """Return half of the process's open-file limit, at most 2,000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2_000 if soft == resource.RLIM_INFINITY else min(2_000, soft // 2)


def is_readable(socket: socket) -> bool:
    """Return whether the system holds something to read, or somebody to accept."""
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return bool(poll.poll(0))


class HeadTooLarge(Exception):
    """The request line and the headers exceed the limit."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. ``_in_head`` is true until the headers of a request are complete."""

    HEAD_BYTES: ClassVar[int] = 64 * 1024
    HEAD_SECONDS: ClassVar[float] = 10.0
    REST_SECONDS: ClassVar[float] = 5.0  # for what is left of a body after the response
    STALL_SECONDS: ClassVar[float] = 30.0  # for a client that reads nothing
    SEND_BUFFER: ClassVar[int] = 128 * 1024  # of the socket; the system default holds megabytes
    LAST_SECONDS: ClassVar[float] = 0.2  # for a request on its way when the server stops
    AGE_SECONDS: ClassVar[float] = 600.0
    MOST_CONNECTIONS: ClassVar[int] = _most_connections()

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._in_head = True
        self._head_bytes = 0
        self._head_too_large = False
        self._stops = False
        self._born = self._rests_since = self.loop.time()
        self._running: RequestResponseCycle | None = None
        self._reading_timer: TimerHandle | None = None
        self._writing_timer: TimerHandle | None = None

    @property
    def _at_rest(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _waits_for_client(self) -> bool:
        """Whether the client must act next: send a request, send a body, or read."""
        return self._at_rest or not self._in_head or self.flow.write_paused

    # Connections
    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # asyncio passes one
        """Close another connection if there are too many; start the timer for the first head."""
        if len(self.connections) >= self.MOST_CONNECTIONS:
            self._evict_one()
        super().connection_made(cast(Transport, JoinedWrites(transport, self.loop)))
        transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_SNDBUF, self.SEND_BUFFER)
        self._limit_reading(self.HEAD_SECONDS)

    def _evict_one(self) -> None:
        """Close the connection that has waited longest for its client."""
        known = [each for each in self.connections if isinstance(each, BoundedProtocol)]
        waiting = [each for each in known if each._waits_for_client]
        if waiting:
            min(waiting, key=lambda each: each._rests_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers, and mark the running request as disconnected."""
        self._stop_reading_timer()
        self._stop_writing_timer()
        super().connection_lost(exc)
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True  # uvicorn marks only the last one of a pipeline
            self._running.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def shutdown(self) -> None:
        """Answer the request in progress, or one that is on its way, and close the connection.

        A connection that is closed with something unread is reset.
        """
        self._stops = True
        if self._at_rest:
            self.loop.call_later(self.LAST_SECONDS, self._close_at_rest)
        else:
            super().shutdown()

    def _close_at_rest(self) -> None:
        if self.transport.is_closing():
            return
        if self._at_rest and is_readable(self.transport.get_extra_info("socket")):
            self.loop.call_later(self.LAST_SECONDS, self._close_at_rest)
        else:
            super().shutdown()

    # Reading
    def data_received(self, data: bytes) -> None:
        """Parse the data; limit an incomplete head in size and time."""
        self._head_bytes += len(data)
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if self._head_bytes > self.HEAD_BYTES:
            self._refuse_head()
        elif self._at_rest and self.timeout_keep_alive_task is None:
            self._limit_reading(self.HEAD_SECONDS)

    def on_headers_complete(self) -> None:
        """Start the request, unless its head is too large."""
        self._in_head = False
        self._stop_reading_timer()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self.HEAD_BYTES:
            self._head_too_large = True
            raise HeadTooLarge  # stops the parser
        super().on_headers_complete()
        if self._stops or self.loop.time() - self._born > self.AGE_SECONDS:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Expect the next head."""
        self._in_head, self._head_bytes = True, 0
        if self._at_rest:
            self._stop_reading_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that cannot be parsed or has too large a head."""
        if self._head_too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)
            self._abort_later()

    def _refuse_head(self) -> None:
        if not self._at_rest:  # another response is in progress
            self.transport.abort()
            return
        message = b"The headers are too large."
        head = b"content-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.transport.write(STATUS_LINE[431] + head % len(message) + message)
        self.transport.close()
        self._abort_later()

    # Writing
    def on_response_complete(self) -> None:
        """Wait for the next request; limit the time for the rest of an unread body."""
        super().on_response_complete()
        self._rests_since = self.loop.time()
        if self.transport.is_closing():
            self._abort_later()
        elif not self._in_head and self._at_rest:
            self._limit_reading(self.REST_SECONDS)

    def pause_writing(self) -> None:
        """Start the timer within which the client must read."""
        super().pause_writing()
        self._abort_later()

    def resume_writing(self) -> None:
        """Stop the timer: the client has read the buffer."""
        if not self.transport.is_closing():
            self._stop_writing_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if its last response was not read."""
        super().timeout_keep_alive_handler()
        self._abort_later()

    # Timers
    def _limit_reading(self, seconds: float) -> None:
        if self._reading_timer is None:
            self._reading_timer = self.loop.call_later(seconds, self._close_late)

    def _close_late(self) -> None:
        self.transport.close()
        self._abort_later()

    def _abort_later(self) -> None:
        if self._writing_timer is None:
            abort: Callable[[], None] = self.transport.abort
            self._writing_timer = self.loop.call_later(self.STALL_SECONDS, abort)

    def _stop_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _stop_writing_timer(self) -> None:
        if self._writing_timer is not None:
            self._writing_timer.cancel()
            self._writing_timer = None

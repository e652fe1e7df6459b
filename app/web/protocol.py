"""HTTP with limits that uvicorn lacks: on the head of a request, on silence, and on slow readers.

A connection is closed when the head of a request is too large or takes too long, when the rest of a
body that nobody wants keeps coming, when its reader takes nothing for a while, and after its last
response when it is old. When there are too many connections, the one closed is that which waits for
its client the longest, so that idle strangers cannot keep people out (uvicorn's `limit_concurrency`
would turn away those who come last).
"""

import resource
from asyncio import TimerHandle, Transport
from collections.abc import Callable
from socket import SO_SNDBUF, SOL_SOCKET
from typing import Any, ClassVar

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)


def _most_connections() -> int:
    """Half of the files this process may open, at most 2,000."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2_000 if soft == resource.RLIM_INFINITY else min(2_000, soft // 2)


class HeadTooLarge(Exception):
    """The request line and the headers are larger than they may be."""


class BoundedProtocol(HttpToolsProtocol):
    """One connection. Its stage is `head` until the headers are complete, then `body`."""

    HEAD_BYTES: ClassVar[int] = 64 * 1024
    HEAD_SECONDS: ClassVar[float] = 10.0
    REST_SECONDS: ClassVar[float] = 5.0  # for what is left of a body after the response
    STALL_SECONDS: ClassVar[float] = 30.0  # for a reader who takes nothing
    SEND_BUFFER: ClassVar[int] = 128 * 1024  # of the system, which would keep megabytes
    AGE_SECONDS: ClassVar[float] = 600.0
    MOST_CONNECTIONS: ClassVar[int] = _most_connections()

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._in_head = True
        self._head_bytes = 0
        self._head_too_large = False
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
        """Whether it is the client's turn: to ask, to send a body, or to read."""
        return self._at_rest or not self._in_head or self.flow.write_paused

    # Connections
    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Make room if there are too many, and wait for a request, not for ever."""
        if len(self.connections) >= self.MOST_CONNECTIONS:
            self._make_room()
        super().connection_made(transport)
        transport.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_SNDBUF, self.SEND_BUFFER)
        self._limit_reading(self.HEAD_SECONDS)

    def _make_room(self) -> None:
        """Close the connection that has waited for its client for the longest."""
        known = [each for each in self.connections if isinstance(each, BoundedProtocol)]
        waiting = [each for each in known if each._waits_for_client]
        if waiting:
            min(waiting, key=lambda each: each._rests_since).transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the timers, and tell the request being answered that nobody reads."""
        self._stop_reading_timer()
        self._stop_writing_timer()
        super().connection_lost(exc)
        if self._running is not None and not self._running.response_complete:
            self._running.disconnected = True  # uvicorn tells only the last one of a pipeline
            self._running.message_event.set()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    # Reading
    def data_received(self, data: bytes) -> None:
        """Parse what came; a head that is not complete yet is limited in size and time."""
        self._head_bytes += len(data)
        super().data_received(data)
        if not self._in_head or self.transport.is_closing():
            return
        if self._head_bytes > self.HEAD_BYTES:
            self._refuse_head()
        elif self._at_rest and self.timeout_keep_alive_task is None:
            self._limit_reading(self.HEAD_SECONDS)

    def on_headers_complete(self) -> None:
        """Begin the request, unless its head is too large."""
        self._in_head = False
        self._stop_reading_timer()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self.HEAD_BYTES:
            self._head_too_large = True
            raise HeadTooLarge  # ends the parsing
        super().on_headers_complete()
        if self.loop.time() - self._born > self.AGE_SECONDS:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Expect the next head."""
        self._in_head, self._head_bytes = True, 0
        if self._at_rest:
            self._stop_reading_timer()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what cannot be parsed, or has too large a head."""
        if self._head_too_large:
            self._refuse_head()
        else:
            super().send_400_response(msg)
            self._abort_later()

    def _refuse_head(self) -> None:
        if not self._at_rest:  # another response is on its way
            self.transport.abort()
            return
        message = b"The headers are too large."
        head = b"content-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.transport.write(STATUS_LINE[431] + head % len(message) + message)
        self.transport.close()
        self._abort_later()

    # Writing
    def on_response_complete(self) -> None:
        """Wait for the next request; the rest of a body that is still coming has little time."""
        super().on_response_complete()
        self._rests_since = self.loop.time()
        if self.transport.is_closing():
            self._abort_later()
        elif not self._in_head and self._at_rest:
            self._limit_reading(self.REST_SECONDS)

    def pause_writing(self) -> None:
        """Give the reader a while to take something."""
        super().pause_writing()
        self._abort_later()

    def resume_writing(self) -> None:
        """Go on: the reader has taken what there was."""
        if not self.transport.is_closing():
            self._stop_writing_timer()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection at rest, even if its last response was not read."""
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

"""Gate in front of all routes: who may write, and limits on the size and duration of bodies.

FastAPI reads and parses a body before anything else. So the gate, not a route, refuses
unauthenticated writes before the body is read, counts bytes as they arrive, and limits the time.
The limits are declared at the routes (`limit_body`). Small bodies are read completely first: when
a route starts, its body is in memory, and no slot or transaction ever waits for a client.
"""

import ctypes
import time

from anyio import fail_after, to_thread
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as NoConnection
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import AppError
from topkapi.app.domain.text.sizes import format_size
from topkapi.app.web.access.admission import admit
from topkapi.app.web.access.bodies import BodyLimit, BodyLimits
from topkapi.app.web.access.deps import SAFE_METHODS
from topkapi.app.web.access.early_auth import early_person
from topkapi.app.web.common.errors import (
    Busy,
    show_app_error,
    show_busy,
    show_busy_database,
    show_http_error,
)
from topkapi.app.web.common.prefix import route_path

IDLE_SECONDS = 30.0  # without a byte while a large body arrives
_TRIM = getattr(ctypes.CDLL(None), "malloc_trim", None)  # GNU's C library has it
_TRIM_SECONDS = 5.0  # at least between two times; others wait for memory meanwhile
_CLOSE = {"Connection": "close"}


class Gate:
    """Middleware that admits writes and bounds their bodies."""

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app, self._limits = app, limits
        self._trimmed = float("-inf")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request; a write only if it is admitted, with its body bounded."""
        if scope["type"] != "http" or scope["method"] in SAFE_METHODS:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        limit = self._limits.of(scope["method"], route_path(scope))
        try:
            bounded = await _bounded_receive(request, receive, limit)
        except ClientDisconnect:
            return
        except (AppError, HTTPException, Busy, OperationalError, NoConnection) as refusal:
            await _shown(request, refusal)(scope, receive, send)
            return
        await self._app(scope, bounded, send)
        is_due = time.monotonic() - self._trimmed > _TRIM_SECONDS
        if is_due and limit.needs_admin:
            self._trimmed = time.monotonic()
            await to_thread.run_sync(return_memory)


def return_memory() -> None:
    """Return memory that an import took, and left unused, to the system."""
    if _TRIM is not None:
        _TRIM(0)


async def _bounded_receive(request: Request, receive: Receive, limit: BodyLimit) -> Receive:
    """Check the sender; return a ``receive`` that bounds the body in size and time."""
    if not limit.for_visitors:
        await admit(request)
    if limit.needs_admin:
        await early_person(request, Role.ADMIN)
    body = BoundedBody(receive, limit)
    body.refuse_announced(request.headers.get("content-length", ""))
    return body.receive if limit.needs_admin else await body.gathered()


class BoundedBody:
    """A body in transfer: counted, and refused when it is too large or too slow."""

    def __init__(self, receive: Receive, limit: BodyLimit) -> None:
        self._receive = receive
        self._limit = limit
        self._deadline = time.monotonic() + limit.seconds
        self._size = 0
        self._complete = False

    def refuse_announced(self, length: str) -> None:
        """Raise if ``Content-Length`` is too large, before the body is read."""
        if length.isdecimal() and (len(length) > 15 or int(length) > self._limit.most_bytes):
            self._refuse_size()

    async def receive(self) -> Message:
        """Return the next message; those after the body are not limited."""
        if self._complete:
            return await self._receive()
        left = max(0.0, min(self._deadline - time.monotonic(), IDLE_SECONDS))
        try:
            with fail_after(left):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, "The request took too long to arrive.", _CLOSE) from None
        self._size += len(message.get("body", b""))
        if self._size > self._limit.most_bytes:
            self._refuse_size()
        self._complete = not message.get("more_body", False)
        return message

    async def gathered(self) -> Receive:
        """Read the whole body; return a ``receive`` that replays it."""
        chunks = []
        while not self._complete:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunks.append(message.get("body", b""))
        whole: Message = {"type": "http.request", "body": b"".join(chunks), "more_body": False}
        return _first(whole, self._receive)

    def _refuse_size(self) -> None:
        most = format_size(self._limit.most_bytes)
        raise HTTPException(413, f"The request is larger than {most}, the limit at this address.")


def _first(message: Message, receive: Receive) -> Receive:
    waiting = [message]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _shown(request: Request, refusal: Exception) -> Response:
    if isinstance(refusal, AppError):
        return show_app_error(request, refusal)
    if isinstance(refusal, Busy):
        return show_busy(request, refusal)
    if isinstance(refusal, OperationalError | NoConnection):
        return show_busy_database(request, refusal)
    return show_http_error(request, refusal)

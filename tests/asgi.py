"""Requests to the app as raw ASGI messages, such as bodies that never arrive."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import FastAPI
from starlette.types import Message, Scope

from tests.threads import in_thread

Watch = Callable[[Message], None]


@dataclass
class Exchange:
    """Response to a request; ``status`` is 0 while there is none."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    asked_for_body: bool = False


def exchange(
    app: FastAPI,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    chunks: Sequence[bytes] = (b"",),
    on_send: Watch | None = None,
) -> Exchange:
    """Send a request whose body arrives in ``chunks``, and return the whole response."""
    exchanged = _exchange(app, scope_of(method, path, headers or {}), chunks, on_send)
    return in_thread(asyncio.run, exchanged)


async def _exchange(
    app: FastAPI, scope: Scope, chunks: Sequence[bytes], on_send: Watch | None
) -> Exchange:
    async with app.router.lifespan_context(app):
        exchange, _ = await begin(app, scope, chunks, on_send)
        return exchange


async def begin(
    app: FastAPI, scope: Scope, chunks: Sequence[bytes], on_send: Watch | None = None
) -> tuple[Exchange, asyncio.Task[None]]:
    """Send a request and wait until it is answered.

    Without ``chunks`` the body never arrives: wait until the app asks for it; the caller cancels
    the task.
    """
    waiting, answer, stuck = list(chunks), Exchange(), asyncio.Event()

    async def receive() -> Message:
        answer.asked_for_body = True
        if not waiting:
            if not chunks:
                stuck.set()
            await asyncio.Event().wait()
        block = waiting.pop(0)
        return {"type": "http.request", "body": block, "more_body": bool(waiting)}

    async def send(message: Message) -> None:
        if on_send is not None:
            on_send(message)
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {k.decode(): v.decode() for k, v in message["headers"]}
        else:
            answer.body += message.get("body", b"")

    task = asyncio.ensure_future(app(scope, receive, send))
    halt = asyncio.ensure_future(stuck.wait())
    await asyncio.wait({task, halt}, return_when=asyncio.FIRST_COMPLETED)
    halt.cancel()
    return answer, task


def scope_of(method: str, path: str, headers: Mapping[str, str]) -> Scope:
    """Return the ASGI scope of a request."""
    sent = {"host": "localhost:8000", **headers}
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path.split("?")[0],
        "raw_path": path.encode(),
        "query_string": path.partition("?")[2].encode(),
        "root_path": "",
        "headers": [(k.lower().encode(), v.encode()) for k, v in sent.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("localhost", 8000),
    }

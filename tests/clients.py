"""An httpx client for the app in this process, with the address of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

BASE_URL = "http://localhost:8000"


class InProcess(httpx.BaseTransport):
    """Runs requests on an event loop in a thread, so that tests can be synchronous."""

    def __init__(self, app: FastAPI, portal: BlockingPortal, address: str) -> None:
        self._portal = portal
        self._inner = httpx.ASGITransport(app=app, client=(address, 50000))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return self._portal.call(self._answer, request)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        response = await self._inner.handle_async_request(request)
        content = await response.aread()
        return httpx.Response(response.status_code, headers=response.headers, content=content)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()


@contextmanager
def open_client(app: FastAPI, *, address: str = "127.0.0.1") -> Iterator[httpx.Client]:
    """Open a client of ``app``; the app runs until the client is closed."""
    with open_clients(app, 1, address=address) as clients:
        yield clients[0]


@contextmanager
def open_clients(
    app: FastAPI, count: int, *, address: str = "127.0.0.1"
) -> Iterator[list[httpx.Client]]:
    """Open clients of ``app``, each with cookies of its own, which may send at the same time."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
        InProcess(app, portal, address) as transport,
    ):
        yield [httpx.Client(transport=transport, base_url=BASE_URL) for _ in range(count)]

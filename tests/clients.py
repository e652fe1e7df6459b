"""A plain httpx client that talks to the program in this process, as a browser on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

BASE_URL = "http://localhost:8000"


class InProcess(httpx.BaseTransport):
    """Runs requests on the event loop of a thread, so that tests stay plain functions."""

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
    """A client of ``app``, which runs for as long as the client is open."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(app.router.lifespan_context(app)),
        InProcess(app, portal, address) as transport,
        httpx.Client(transport=transport, base_url=BASE_URL) as client,
    ):
        yield client

"""Clients of the app in this process, with the address of this machine, and of real servers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import httpx
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

from tests.waiting import WATCHDOG

BASE_URL = "http://localhost:8000"


def tight(page: str) -> str:
    """Return HTML as one line without spaces around tags: templates may break lines anywhere."""
    return re.sub(r" ?(<[^>]*>) ?", r"\1", " ".join(page.split()))


def form_token(page: httpx.Response) -> str:
    """Return the CSRF token of the first form of a page, which must have one."""
    found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
    assert found is not None, page.text
    return found[1]


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


def connect(**options: Any) -> httpx.Client:
    """Open a client of a real server, which replies when it can."""
    return httpx.Client(timeout=WATCHDOG, **options)


def get(address: str, **options: Any) -> httpx.Response:
    """Return the reply of a real server to a single request."""
    with connect() as client:
        return client.get(address, **options)


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

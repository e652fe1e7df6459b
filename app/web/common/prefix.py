"""The path under which people reach the server: `/labels` behind a proxy, empty at the top."""

from contextvars import ContextVar

from fastapi import FastAPI
from starlette.datastructures import URLPath
from starlette.types import ASGIApp, Receive, Scope, Send

_prefix: ContextVar[str] = ContextVar("prefix", default="")


def prefix() -> str:
    """Return the path that every address of this request begins with, without a final slash."""
    return _prefix.get()


def route_path(scope: Scope) -> str:
    """Return the path of a request as routes know it, without the prefix."""
    path: str = scope["path"]
    return path.removeprefix(prefix())


class PrefixedApp(FastAPI):
    """An application whose addresses begin with the prefix."""

    def url_path_for(self, name: str, /, **path_params: object) -> URLPath:
        """Return the address of a route as people reach it."""
        return URLPath(prefix() + super().url_path_for(name, **path_params))


class UnderPrefix:
    """Middleware that adds the prefix to the path of a request if a proxy has removed it."""

    def __init__(self, app: ASGIApp, prefix: str) -> None:
        self._app = app
        self._path = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request under the prefix."""
        _prefix.set(self._path)
        if scope["type"] == "http" and self._path:
            path: str = scope["path"]
            if f"{path}/".startswith(f"{self._path}/"):
                path = path.removeprefix(self._path) or "/"
            scope.update(root_path=self._path, path=self._path + path)
        await self._app(scope, receive, send)

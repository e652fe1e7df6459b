"""Headers of every response, the renewal of session cookies, and HEAD wherever there is GET."""

from urllib.parse import urlsplit, urlunsplit

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from topkapi.app.web.common.cookies import Cookies

CSP = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",
        "frame-src 'self'",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
DEFAULTS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

_RAW_DEFAULTS = [(name.lower().encode(), value.encode()) for name, value in DEFAULTS.items()]


_OTHER_SLASH = 307  # of the router, for an address with a slash too many; ours are 303


def _drop_host(headers: MutableHeaders) -> None:
    """Make the address of a redirect relative: the router takes its host from the request."""
    target = urlsplit(headers["location"])
    headers["location"] = urlunsplit(("", "", "/" + target.path.lstrip("/"), target.query, ""))


class Headers:
    """Middleware that adds default headers; routes can override them (pages under judgment do)."""

    def __init__(self, app: ASGIApp, cookies: Cookies) -> None:
        self._app = app
        self._cookies = cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request, and add headers to its response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent = {name for name, _ in message["headers"]}
                message["headers"] += [each for each in _RAW_DEFAULTS if each[0] not in sent]
                if message["status"] == _OTHER_SLASH:
                    _drop_host(MutableHeaders(scope=message))
                self._renew(scope, message)
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _renew(self, scope: Scope, start: Message) -> None:
        token = scope.get("state", {}).get("renewed_session")
        if token is not None:
            carrier = Response()
            self._cookies.set_session(carrier, token)
            MutableHeaders(scope=start).append("Set-Cookie", carrier.headers["set-cookie"])


class HeadAsGet:
    """Middleware that answers HEAD as GET, without the body.

    The method is put back before the response starts: the server and the log need the true one.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward the request; a HEAD as a GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            scope["method"] = "HEAD"
            await send({**message, "body": b""} if "body" in message else message)

        scope["method"] = "GET"
        try:
            await self._app(scope, receive, send_head)
        finally:
            scope["method"] = "HEAD"

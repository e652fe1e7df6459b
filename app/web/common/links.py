"""Addresses: who asks and for which host, redirect targets after a sign-in, public links."""

from ipaddress import ip_address
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from starlette.requests import Request
from starlette.routing import Match

from topkapi.app.services.accounts.sign_in import Visitor
from topkapi.app.web.common.prefix import prefix, route_path

_DONE = {"done", "saved", "undo"}  # parameters of a page that tell what was done
_LOCAL_NAMES = {"localhost", "127.0.0.1", "::1"}


def visitor_of(request: Request) -> Visitor:
    """Return the client address, and whether the client runs on this machine.

    The address alone would accept everyone behind a proxy on this machine that does not forward the
    client address, so the requested host name must be a local one too.
    """
    address = request.client.host if request.client else "unknown"
    return Visitor(address, _is_loopback(address) and asks_local_name(request))


def asks_local_name(request: Request) -> bool:
    """Return whether the requested host name means the client's own machine."""
    return _requested_host(request) in _LOCAL_NAMES


def _requested_host(request: Request) -> str:
    """Return the requested host name without its port."""
    host = request.headers.get("host", "").lower()
    return host[1:].split("]")[0] if host.startswith("[") else host.split(":")[0]


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def is_api(request: Request) -> bool:
    """Return whether this is an API request, which has a token; pages use a cookie."""
    return route_path(request.scope).startswith("/api/")


def public_url(request: Request, path: str) -> str:
    """Return the public address of ``path``, which begins with the prefix: at the configured host,
    or on localhost.

    Otherwise return the path alone: the ``Host`` header is not trusted, because a secret link to
    another host would reveal the secret.
    """
    configured: str = request.app.state.settings.public_url
    if configured:
        return configured.removesuffix(prefix()) + path
    base = str(request.base_url).rstrip("/") if asks_local_name(request) else ""
    return base + path


def landing(request: Request, wanted: str) -> str:
    """Return where to go for a `local_path`; `/` is the start page, wherever that is."""
    return str(request.app.url_path_for("get_start")) if wanted == "/" else wanted


def sending_path(request: Request) -> str:
    """Return path and query of the page of this site that sent a form, or `/`.

    It is `/` if the page is unknown or was itself the answer to a form. The query no longer tells
    what was done last.
    """
    try:
        page = urlsplit(request.headers.get("referer", ""))
        query = urlencode([each for each in parse_qsl(page.query) if each[0] not in _DONE])
    except ValueError:
        return "/"
    asked = {**request.scope, "method": "GET", "path": unquote(page.path)}
    is_page = any(route.matches(asked)[0] is Match.FULL for route in request.app.routes)
    is_ours = is_page and page.hostname == _requested_host(request)
    return local_path(page.path + (f"?{query}" if query else "")) if is_ours else "/"


def local_path(wanted: str) -> str:
    """Return ``wanted`` if it is a path on this site, else `/`: no redirects to other sites."""
    is_local = (
        wanted.startswith("/")
        and not wanted.startswith("//")
        and "\\" not in wanted
        and wanted.isprintable()
    )
    return wanted if is_local else "/"

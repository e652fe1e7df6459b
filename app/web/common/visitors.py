"""Origin of a request."""

from ipaddress import ip_address

from starlette.requests import Request

from topkapi.app.services.accounts.sign_in import Visitor
from topkapi.app.web.common.prefix import route_path

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

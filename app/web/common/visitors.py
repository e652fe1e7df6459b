"""Where a request comes from."""

from ipaddress import ip_address

from starlette.requests import Request

from topkapi.app.services.accounts.sign_in import Visitor

_LOCAL_NAMES = {"localhost", "127.0.0.1", "::1"}


def visitor_of(request: Request) -> Visitor:
    """The network address, and whether a browser on this very machine asks.

    The address alone would let in everyone behind a proxy on this machine that does not pass the
    address on, so the name the browser asked for has to be a local one too.
    """
    address = request.client.host if request.client else "unknown"
    return Visitor(address, _is_loopback(address) and asks_local_name(request))


def asks_local_name(request: Request) -> bool:
    """Whether the browser asked for a name that means the machine it runs on."""
    return _asked_name(request) in _LOCAL_NAMES


def _asked_name(request: Request) -> str:
    """The host name of the address the browser asked for, without its port."""
    host = request.headers.get("host", "").lower()
    return host[1:].split("]")[0] if host.startswith("[") else host.split(":")[0]


def _is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def is_api(request: Request) -> bool:
    """Whether a program asks, with a token; pages are asked for with a cookie."""
    return str(request.scope["path"]).startswith("/api/")

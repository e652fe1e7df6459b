"""Addresses: those that may be followed after a sign-in, and those that are sent to people."""

from urllib.parse import urlsplit

from starlette.requests import Request

from topkapi.app.web.common.visitors import asks_local_name


def public_url(request: Request, path: str) -> str:
    """Where people reach ``path``: under the address that is set, or on this very machine.

    Otherwise the path alone: the host that a request names is not believed, because a secret link
    to another host would give the secret away.
    """
    configured: str = request.app.state.settings.public_url
    if configured:
        return configured + path
    base = str(request.base_url).rstrip("/") if asks_local_name(request) else ""
    return base + path


def local_path(wanted: str) -> str:
    """``wanted`` if it is a path on this site, else the start page: nobody is led elsewhere."""
    parts = urlsplit(wanted)
    is_local = (
        wanted.startswith("/")
        and not wanted.startswith("//")
        and "\\" not in wanted
        and not parts.scheme
        and not parts.netloc
        and wanted.isprintable()
    )
    return wanted if is_local else "/"

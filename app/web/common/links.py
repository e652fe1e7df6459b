"""Addresses: redirect targets after a sign-in, and public links sent to people."""

from starlette.requests import Request

from topkapi.app.web.common.prefix import prefix
from topkapi.app.web.common.visitors import asks_local_name


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


def local_path(wanted: str) -> str:
    """Return ``wanted`` if it is a path on this site, else `/`: no redirects to other sites."""
    is_local = (
        wanted.startswith("/")
        and not wanted.startswith("//")
        and "\\" not in wanted
        and wanted.isprintable()
    )
    return wanted if is_local else "/"

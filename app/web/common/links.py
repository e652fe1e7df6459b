"""Addresses: redirect targets after a sign-in, and public links sent to people."""

from starlette.requests import Request

from topkapi.app.web.common.visitors import asks_local_name


def public_url(request: Request, path: str) -> str:
    """Return the public address of ``path``: under the configured one, or on localhost.

    Otherwise return the path alone: the ``Host`` header is not trusted, because a secret link to
    another host would reveal the secret.
    """
    configured: str = request.app.state.settings.public_url
    if configured:
        return configured + path
    base = str(request.base_url).rstrip("/") if asks_local_name(request) else ""
    return base + path


def local_path(wanted: str) -> str:
    """Return ``wanted`` if it is a path on this site, else `/`: no redirects to other sites."""
    is_local = (
        wanted.startswith("/")
        and not wanted.startswith("//")
        and "\\" not in wanted
        and wanted.isprintable()
    )
    return wanted if is_local else "/"

"""Addresses that may be followed after a sign-in."""

from urllib.parse import urlsplit


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

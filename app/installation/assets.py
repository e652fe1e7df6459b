"""Location of templates, static files and migrations: in the wheel, or at the top of a checkout."""

from functools import cache
from pathlib import Path

FETCHED = ("vendor/htmx.min.js",)  # static files that are not in the repository
_PACKAGE = Path(__file__).resolve().parents[1]


def asset_dir(name: str) -> Path:
    """Return the folder ``name`` (templates, static or migrations), in the wheel or a checkout."""
    return _found(_PACKAGE, name)


@cache  # asked for with every address of a static file on every page
def _found(package: Path, name: str) -> Path:
    for folder in (package / "_assets" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise _missing(name)


def require_assets() -> None:
    """Raise `FileNotFoundError` unless everything that the pages need is installed."""
    for name in ("templates", "static", "migrations"):
        asset_dir(name)
    for name in FETCHED:
        if not (asset_dir("static") / name).is_file():
            raise _missing(f"static/{name}")


def _missing(name: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"{name} is missing from the installation: reinstall Topkapi, or run make setup in a "
        "checkout"
    )

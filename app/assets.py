"""Location of templates, static files and migrations: in the wheel, or at the top of a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def asset_dir(name: str) -> Path:
    """Return the folder ``name`` (templates, static or migrations), in the wheel or a checkout."""
    for folder in (_PACKAGE / "_assets" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"the folder {name!r} is missing from the installation; reinstall Topkapi"
    )

"""Where templates, static files and migrations are: in the wheel, or at the top of a checkout."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def asset_dir(name: str) -> Path:
    """The folder ``name`` (templates, static or migrations), in the wheel or the checkout."""
    for folder in (_PACKAGE / "_assets" / name, _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(
        f"the folder {name!r} is missing beside the program; install Topkapi again"
    )

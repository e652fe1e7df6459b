"""Optional packages: whether one is installed, and the command that installs it here."""

import importlib
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from topkapi.analysis.errors import AnalysisError

EXTRAS = {
    "dask": "distributed>=2026.1",
    "lightgbm": "lightgbm>=4.6",
    "parquet": "pyarrow>=21",
    "xgboost": "xgboost-cpu>=3.2",
}
"""Extra -> the package it brings, as in pyproject.toml."""


class MissingPackage(AnalysisError):
    """An optional package is needed and not installed; the message says how to install it."""


def optional_module(name: str, extra: str, title: str) -> ModuleType:
    """Import the module ``name`` of an extra.

    Raises
    ------
    MissingPackage
        If it is missing; the message names it by ``title``.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingPackage(f"{title} is not installed: {install_command(extra)}") from None


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    return find_spec(module) is not None


def install_command(*extras: str) -> str:
    """Return the command that installs extras for the Python that runs this program.

    It names the packages, because Topkapi itself may come from a checkout that no index has.
    """
    python = Path(sys.executable)
    here = python.relative_to(Path.cwd()) if python.is_relative_to(Path.cwd()) else python
    packages = " ".join(shlex.quote(EXTRAS[extra]) for extra in extras)
    return f"{shlex.quote(str(here))} -m pip install {packages}"

"""Optional packages: whether one is installed, and the command that installs it here."""

import importlib
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

EXTRAS = {
    "analysis": ("joblib>=1.5", "matplotlib>=3.10", "scipy>=1.17"),
    "dask": ("distributed>=2026.1",),
    "lightgbm": ("lightgbm>=4.6",),
    "oidc": ("authlib>=1.9.5",),
    "parquet": ("pyarrow>=21",),
    "pdf": ("pypdfium2>=5.0,<6",),
    "postgres": ("psycopg[binary]>=3.3",),
    "xgboost": ("xgboost-cpu>=3.2",),
}
"""Extra -> the packages it brings, as in pyproject.toml."""

MODULES = {
    "analysis": "scipy",
    "dask": "distributed",
    "oidc": "authlib",
    "parquet": "pyarrow",
    "pdf": "pypdfium2",
    "postgres": "psycopg",
}
"""Extra -> the module that shows whether it is installed, unless both have the same name."""


class MissingPackage(ImportError):
    """An optional package is needed and not installed; the message says how to install it."""

    def __init__(self, title: str, extra: str) -> None:
        self.title, self.extra = title, extra
        super().__init__(f"{title} is not installed: {install_command(extra)}")

    @property
    def elsewhere(self) -> str:
        """The message for people on another machine, without paths of this one."""
        return f"{self.title} is not installed on this server: pip install {packages(self.extra)}"


class LazyModule(ModuleType):
    """A module of an extra that is imported when it is first used."""

    def __init__(self, name: str, extra: str, title: str) -> None:
        super().__init__(name)
        self.__dict__["_wanted"] = name, extra, title

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by inspection, which needs no import
            raise AttributeError(name)
        found = getattr(optional_module(*self.__dict__["_wanted"]), name)
        self.__dict__[name] = found
        return found


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
        raise MissingPackage(title, extra) from None


def is_installed(extra: str) -> bool:
    """Return whether the package of an extra can be imported, without importing it."""
    return find_spec(MODULES.get(extra, extra)) is not None


def install_command(*extras: str) -> str:
    """Return the command that installs extras for the Python that runs this program.

    It names the packages, because Topkapi itself may come from a checkout that no index has.
    """
    python = Path(sys.executable)
    here = python.relative_to(Path.cwd()) if python.is_relative_to(Path.cwd()) else python
    return f"{shlex.quote(str(here))} -m pip install {packages(*extras)}"


def packages(*extras: str) -> str:
    """Return the packages of extras as a command line takes them."""
    return " ".join(shlex.quote(package) for extra in extras for package in EXTRAS[extra])


def library_version() -> str:
    """Return the version of the installed package, or of the checkout this module is in."""
    import tomllib
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path

    try:
        return version("topkapi")
    except PackageNotFoundError:
        project = Path(__file__).resolve().parents[2] / "pyproject.toml"
        found: str = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
        return found

"""Shared by commands: settings, sessions on a migrated database, and output."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from inspect import Signature, signature
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.domain.errors import NotFound

if TYPE_CHECKING:
    from topkapi.analysis.report.figures import Figure
if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.engine import Sessions, make_sessions, normal_url, open_engine


Slug = Annotated[str, typer.Argument(help="Slug of the study.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
PATIENCE = 2.0
_WIDTH = 30
_EVERY = 0.1
Update = Callable[[str, int, int], None]


@contextmanager
def open_sessions(settings: Settings | None = None, *, create: bool = False) -> Iterator[Sessions]:
    """Yield session factories on the configured database, after migrating it.

    What is not found in it is reported with its name: it may be another than was meant.
    """
    settings = settings or Settings()
    ensure_migrated(settings, create=create)
    second = settings.read_database_url
    try:
        with (
            open_engine(settings.database_url) as engine,
            open_engine(second) if second else nullcontext() as replica,
        ):
            yield make_sessions(engine, replica)
    except NotFound as error:
        raise NotFound(f"{error} The database is {_name(settings)}.") from None


@contextmanager
def ended_by_signals(*numbers: int, notice: str = "") -> Iterator[None]:
    """Let signals end the process by an exception, after a notice: a job in hand is returned."""

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        if notice:
            typer.echo(notice, err=True)
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ensure_migrated(settings: Settings, *, create: bool = False) -> None:
    """Migrate an SQLite file; raise for an outdated PostgreSQL database, which others may be
    using, and unless ``create`` for a file that does not exist.
    """
    if not create:
        require_database(settings)
    with open_engine(settings.database_url) as engine:
        state = migrations.revisions(engine)
        is_sqlite = engine.dialect.name == "sqlite"
    if state.up_to_date:
        return
    if not migrations.is_known(state.current):
        raise Refused(
            f"the database is at migration {state.current}, which this version does not know: "
            "use the newer version of Topkapi that created it"
        )
    if not is_sqlite:
        at = state.current or "none"
        raise Refused(
            f"the database is not migrated (at {at}, needed {state.head}): run topkapi db upgrade"
        )
    migrations.upgrade(settings.database_url)


def require_database(settings: Settings) -> None:
    """Raise if the database is an SQLite file that does not exist."""
    if not database_exists(settings):
        raise Refused(
            f"there is no database {_name(settings)}: go to its folder, or set "
            "TOPKAPI_DATABASE_URL; topkapi serve, demo, restore, users add and study import create "
            "one"
        )


def database_exists(settings: Settings) -> bool:
    """Return whether the file of an SQLite database exists; PostgreSQL has to be asked."""
    url = normal_url(settings.database_url)
    return url.get_backend_name() != "sqlite" or Path(url.database or "").exists()


def _name(settings: Settings) -> str:
    """Return the database's file, or its address without the password."""
    url = normal_url(settings.database_url)
    if url.get_backend_name() == "sqlite":
        return str(Path(url.database or "").absolute())
    return url.set(drivername="postgresql").render_as_string(hide_password=True)


def table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return aligned columns under their heads; numbers are aligned at the right."""
    columns = []
    for head, *cells in zip(heads, *rows, strict=True):
        texts = [head, *map(str, cells)]
        width, number = max(map(len, texts)), all(isinstance(cell, int) for cell in cells)
        columns.append([text.rjust(width) if number else text.ljust(width) for text in texts])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def say(as_json: bool, data: Any, text: str) -> None:
    """Print ``data`` as JSON for programs, or ``text`` for people."""
    typer.echo(json.dumps(data, default=str, ensure_ascii=False) if as_json else text)


def shown_figure(figure: Figure, gap: str = " ") -> str:
    """Return a figure with its interval, or why it is undefined."""
    if figure.value is None:
        return f"undefined: {figure.reason}"
    if figure.interval is None:
        return f"{figure.value:.4f}"
    return f"{figure.value:.4f}{gap}({figure.interval.low:.4f} to {figure.interval.high:.4f})"


@contextmanager
def late_bar() -> Iterator[Update]:
    """Yield a function that takes the current activity, the amount done, and the total."""
    if not sys.stderr.isatty():
        yield lambda _doing, _done, _total: None
        return
    bar = _Bar()
    try:
        yield bar.update
    finally:
        bar.clear()


class _Bar:
    def __init__(self) -> None:
        self._next = time.monotonic() + PATIENCE
        self._drawn = False

    def update(self, doing: str, done: int, total: int) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY
        self._drawn = True
        share = done / total if total else 1.0
        full = round(_WIDTH * share)
        line = f"\r{doing:<10} [{'#' * full}{'.' * (_WIDTH - full)}] {share:4.0%}"
        sys.stderr.write(line)
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r" + " " * (_WIDTH + 20) + "\r")
            sys.stderr.flush()


def with_options(
    shared: Callable[..., object], without: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command its own parameters and, in place of the last, the ``shared`` ones."""

    def extended(command: Callable[..., None]) -> Callable[..., None]:
        *own, _ = signature(command, eval_str=True).parameters.values()
        further = signature(shared, eval_str=True).parameters.values()

        def run(**given: Any) -> None:
            mine = {each.name: given.pop(each.name) for each in own}
            command(**mine, options=shared(**given))

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        options = (each for each in further if each.name not in without)
        run.__signature__ = Signature([*own, *options])  # type: ignore[attr-defined]  # Typer reads it
        return run

    return extended

"""Shared by commands: settings, sessions on a migrated database, and output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.engine import Sessions, make_engine, make_sessions

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


@contextmanager
def open_sessions(settings: Settings | None = None) -> Iterator[Sessions]:
    """Yield session factories on the configured database, after migrating it."""
    settings = settings or Settings()
    ensure_migrated(settings)
    engine = make_engine(settings.database_url)
    try:
        yield make_sessions(engine)
    finally:
        engine.dispose()


def ensure_migrated(settings: Settings) -> None:
    """Migrate an SQLite file; raise for an outdated PostgreSQL database, which others may be
    using.
    """
    engine = make_engine(settings.database_url)
    try:
        state = migrations.revisions(engine)
        is_sqlite = engine.dialect.name == "sqlite"
    finally:
        engine.dispose()
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


def say(as_json: bool, data: Any, text: str) -> None:
    """Print ``data`` as JSON for programs, or ``text`` for people."""
    typer.echo(json.dumps(data, default=str, ensure_ascii=False) if as_json else text)

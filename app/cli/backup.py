"""`topkapi backup`: write the whole database to one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, ensure_migrated, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.engine import make_engine
    from topkapi.app.services.backups import write_backup

NICENESS = 10  # the server has priority for processor and disk


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    cli.command(epilog="Example: topkapi backup topkapi-2026-11-15.zip")(backup)


def backup(
    path: Annotated[Path, typer.Argument(help="Zip file to write.")],
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write studies, pages, people, judgments and everything else to one zip; the server may keep
    running.
    """
    if path.exists() and not overwrite:
        raise Refused(f"{path} already exists: choose another name, or add --overwrite")
    settings = Settings()
    ensure_migrated(settings)
    os.nice(NICENESS)
    engine = make_engine(settings.database_url)
    try:
        rows = write_backup(engine, migrations.head_revision(), path)
    finally:
        engine.dispose()
    total = sum(rows.values())
    say(as_json, {"path": str(path), "rows": rows}, f"{total} rows written to {path}")

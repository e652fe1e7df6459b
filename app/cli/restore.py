"""`topkapi restore`: fill an empty database from a backup."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.backup import named_backups
from topkapi.app.cli.common import AsJson, ensure_migrated, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.engine import open_engine
    from topkapi.app.services.backups import read_backup

commands = typer.Typer()


@commands.command(epilog="Example: topkapi restore topkapi-2026-11-15.zip")
def restore(
    path: Annotated[
        Path,
        typer.Argument(exists=True, help="Backup file, or folder of backups (the newest is read)."),
    ],
    as_json: AsJson = False,
) -> None:
    """Fill an empty SQLite or PostgreSQL database from a backup of either."""
    if path.is_dir():
        found = named_backups(path)
        if not found:
            raise Refused(f"{path} contains no backup written by topkapi backup --keep")
        path = found[-1]
    settings = Settings()
    ensure_migrated(settings, create=True)
    with open_engine(settings.database_url) as engine:
        rows = read_backup(engine, migrations.head_revision(), path)
    say(as_json, {"rows": rows}, f"{sum(rows.values())} rows restored from {path}")

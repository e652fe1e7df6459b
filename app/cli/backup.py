"""`topkapi backup`: the whole database as one file."""

import os
from pathlib import Path
from typing import Annotated

import typer

from topkapi.app.cli.common import AsJson, ensure_migrated, say
from topkapi.app.cli.failures import Refused
from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine
from topkapi.app.services.backups import write_backup

NICENESS = 10  # the server comes first, where both want the processor or the disk


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    cli.command(epilog="Example: topkapi backup topkapi-2026-11-15.zip")(backup)


def backup(
    path: Annotated[Path, typer.Argument(help="The zip to write.")],
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write studies, pages, people, judgments and all else to one zip; the server may go on."""
    if path.exists() and not overwrite:
        raise Refused(f"{path} is there already: choose another name, or say --overwrite")
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

"""`topkapi backup`: write the whole database to one file."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, ensure_migrated, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.engine import open_engine
    from topkapi.app.services.backups import write_backup

commands = typer.Typer()

NICENESS = 10  # the server has priority for processor and disk


@commands.command(
    epilog="Examples: topkapi backup topkapi-2026-11-15.zip; topkapi backup /backups --keep 14"
)
def backup(
    path: Annotated[Path, typer.Argument(help="Zip file to write; with --keep, a folder.")],
    overwrite: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    keep: Annotated[
        int | None,
        typer.Option(
            min=1, help="Name the file after the current time, and delete all but the newest N."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write the whole database to one zip file; the server may keep running."""
    folder = path
    if keep is not None:
        if path.exists() and not path.is_dir():
            raise Refused(f"{path} is a file: with --keep, name the folder of the backups")
        path = folder / f"topkapi-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.zip"
    if path.exists() and not overwrite:
        raise Refused(f"{path} already exists: choose another name, or add --overwrite")
    settings = Settings()
    ensure_migrated(settings)
    os.nice(NICENESS)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open_engine(settings.database_url) as engine:
        rows = write_backup(engine, migrations.head_revision(), path)
    deleted = [] if keep is None else _delete_old(folder, keep)
    about = {"path": str(path), "rows": rows, "deleted": [str(each) for each in deleted]}
    less = f", {len(deleted)} old deleted" if deleted else ""
    say(as_json, about, f"{sum(rows.values())} rows written to {path}{less}")


def named_backups(folder: Path) -> list[Path]:
    """Return the backups that `--keep` named, the newest last."""
    named = re.compile(r"topkapi-\d{8}T\d{6}Z\.zip")
    return sorted(each for each in folder.iterdir() if named.fullmatch(each.name))


def _delete_old(folder: Path, keep: int) -> list[Path]:
    """Delete all but the newest ``keep`` backups that this command named; return them."""
    found = named_backups(folder)
    for each in found[:-keep]:
        each.unlink()
    return found[:-keep]

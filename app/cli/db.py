"""`topkapi db`: migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, require_database, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.engine import open_engine

commands = typer.Typer()


@commands.command(epilog="Example: topkapi db upgrade")
def upgrade(
    revision: Annotated[str, typer.Argument(help="Migration to upgrade to.")] = "head",
    as_json: AsJson = False,
) -> None:
    """Upgrade the database to the newest migration, in one transaction."""
    _change(migrations.upgrade, Settings(), revision, as_json)


@commands.command(epilog="Example: topkapi db downgrade 0001")
def downgrade(
    revision: Annotated[str, typer.Argument(help="Migration to downgrade to: 0001, -1 or base.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Confirm that data in newer tables is lost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Downgrade the database to an older migration. Data in newer tables is lost."""
    if not yes:
        raise Refused("a downgrade loses the data in newer tables: make a backup, then add --yes")
    settings = Settings()
    require_database(settings)
    _change(migrations.downgrade, settings, revision, as_json)


@commands.command(epilog="Example: topkapi db check --json")
def check(as_json: AsJson = False) -> None:
    """Print the database's migration; fail if it is outdated or the tables differ from the
    program.
    """
    settings = Settings()
    require_database(settings)
    with open_engine(settings.database_url) as engine:
        state = migrations.revisions(engine)
        differences = [str(change) for change in migrations.differences(engine)]
    data = {"current": state.current, "head": state.head, "differences": differences}
    if not state.up_to_date:
        say(as_json, data, f"at {state.current or 'none'}, needed {state.head}")
        raise typer.Exit(1)
    if differences:
        say(as_json, data, "the tables differ from the program: " + "; ".join(differences))
        raise typer.Exit(1)
    say(as_json, data, f"at {state.current}, up to date")


def _change(step: migrations.Step, settings: Settings, revision: str, as_json: bool) -> None:
    """Take a step, and print at which migration the database is then."""
    try:
        step(settings.database_url, revision)
    except migrations.UnknownRevision as error:
        raise Refused(str(error)) from None
    with open_engine(settings.database_url) as engine:
        state = migrations.revisions(engine)
    data = {"current": state.current, "head": state.head}
    say(as_json, data, f"the database is at {state.current or 'none'}")

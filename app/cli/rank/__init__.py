"""`topkapi rank`: ranking models, measures and experiments."""

from importlib import import_module

import typer

from topkapi.app.cli.grouping import new_group

SUMMARY = "Train and score ranking models, and reproduce the papers' experiments."


def register(cli: typer.Typer) -> None:
    """Add the group to the command line."""
    group = new_group(SUMMARY)
    for module in ("everyday", "experiments"):
        import_module(f"topkapi.app.cli.rank.{module}").add_to(group)
    cli.add_typer(group, name="rank")

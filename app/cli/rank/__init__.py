"""`topkapi rank`: ranking models, measures and experiments."""

import typer

from topkapi.app.cli.rank import everyday, experiments

commands = typer.Typer()
commands.add_typer(everyday.commands)
commands.add_typer(experiments.commands)

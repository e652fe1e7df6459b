"""`topkapi rank`: ranking models, measures and experiments."""

import os
from importlib import import_module

import typer

from topkapi.app.cli.grouping import new_group

SUMMARY = "Train and score ranking models, and reproduce the papers' experiments."


def register(cli: typer.Typer) -> None:
    """Add the group to the command line.

    Models with a hundred variables get slower with several linear algebra threads, much slower on a
    busy machine, so one thread is requested before NumPy is first imported.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    group = new_group(SUMMARY)
    for module in ("everyday", "experiments"):
        import_module(f"topkapi.app.cli.rank.{module}").add_to(group)
    cli.add_typer(group, name="rank")

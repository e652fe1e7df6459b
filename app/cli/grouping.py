"""Groups of commands whose help shows the whole summary of each command."""

from typing import Any

import typer
from typer.core import TyperGroup


class WholeSummaries(TyperGroup):
    """A group whose help wraps the summaries of its commands instead of cutting them off."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 (of Typer)
        """Write the commands with their whole summaries."""
        commands = self.commands.items()
        with formatter.section("Commands"):
            formatter.write_dl([(name, each.get_short_help_str(1000)) for name, each in commands])


def new_group(summary: str) -> typer.Typer:
    """Return an empty group."""
    return typer.Typer(cls=WholeSummaries, help=summary, rich_markup_mode=None)

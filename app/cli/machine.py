"""`topkapi machine`: certificates of machine assessors, and judgments they made elsewhere."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, Slug, open_sessions, say
from topkapi.app.cli.running import RUNNING
from topkapi.app.domain.enums import Tool

if TYPE_CHECKING or RUNNING:
    from topkapi.app.services.machines.certificates import Certificates
    from topkapi.app.services.machines.importing import import_grades, read_grades
    from topkapi.app.services.results.exports import export_session

commands = typer.Typer()


@commands.command(
    "import", epilog="Example: topkapi machine import everyday-questions gpt-4o umbrela.qrels"
)
def import_file(
    slug: Slug,
    machine: Annotated[str, typer.Argument(help="Name of the machine that gave the grades.")],
    file: Annotated[Path, typer.Argument(help="Grades from 0, plain or gzip.", exists=True)],
    as_json: AsJson = False,
) -> None:
    """Import a machine's grades from elsewhere: qrels, or umbrela's JSON Lines."""
    labels = read_grades(str(file), file.read_bytes())
    with open_sessions() as sessions:
        found = import_grades(sessions, slug, machine, labels)
    say(as_json, asdict(found), str(found))


@commands.command(
    epilog="Example: topkapi machine certificate everyday-questions gpt-4o --out file.json"
)
def certificate(
    slug: Slug,
    machine: Annotated[str, typer.Argument(help="Name of the machine.")],
    tool: Annotated[Tool, typer.Option(help="Tool used by the machine.")] = Tool.PAIRS,
    epsilon: Annotated[
        float,
        typer.Option(
            min=0.0, max=0.5, help="Accepted advantage of people: .1 for crowds, .2 for experts."
        ),
    ] = 0.1,
    out: Annotated[Path | None, typer.Option(help="File to write; printed if omitted.")] = None,
) -> None:
    """Test whether a machine may replace a person, and write the certificate."""
    with open_sessions() as sessions, export_session(sessions) as session:
        issued = Certificates(session, slug).issue(machine, tool, epsilon)
    if out is None:
        typer.echo(issued.to_json(), nl=False)
        return
    out.write_text(issued.to_json(), encoding="utf-8")
    typer.echo(
        f"{machine}: {issued.verdict} ({issued.people} people, {issued.queries} queries); {out}"
    )

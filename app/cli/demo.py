"""`topkapi demo`: load the demo study with people at work on it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, open_sessions, say
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.app.services.demo import SignIn, is_empty, load_demo, sign_ins

commands = typer.Typer()


@commands.command("demo", epilog="Example: topkapi demo --if-empty")
def demo_command(
    if_empty: Annotated[
        bool, typer.Option("--if-empty", help="Do nothing if the database contains anything.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Load the demo study and its accounts, and print how to sign in on this machine."""
    with open_sessions(create=True) as sessions, sessions.write.begin() as session:
        if if_empty and not is_empty(session):
            accounts = sign_ins(session)
            what = "the database is not empty; nothing was loaded"
        else:
            demo = load_demo(session)
            accounts = demo.sign_ins
            what = (
                f"{demo.slug}: {demo.assignments} assignments, {demo.finished} finished, "
                f"{demo.judgments} judgments"
            )
    say(
        as_json,
        {"sign_ins": [asdict(one) for one in accounts]},
        "\n".join([what, *_lines(accounts)]),
    )


def _lines(found: tuple[SignIn, ...]) -> list[str]:
    if not found:
        return []
    rows = [f"  {one.role:<11} {one.email:<24} {one.name}" for one in found]
    return ["sign in on this machine with one of these:", *rows, f"  password: {found[0].password}"]

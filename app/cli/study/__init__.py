"""`topkapi study`: import and list studies; further commands are in `work`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from topkapi.app.cli.bars import late_bar
from topkapi.app.cli.common import AsJson, open_sessions, say
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.study import steering, work
from topkapi.app.db.queries.studies.studies import studies_with_counts
from topkapi.app.services.importing import (
    ImportReport,
    StudyRefused,
    import_study,
    open_source,
    preview_study,
)


def register(cli: typer.Typer) -> None:
    """Add the group to the command line."""
    group = typer.Typer(
        help="Import studies, assign them, and show their progress.", rich_markup_mode=None
    )
    group.command("import", epilog="Example: topkapi study import my-study.zip --dry-run")(
        import_command
    )
    group.command("list", epilog="Example: topkapi study list --json")(list_command)
    work.register(group)
    steering.register(group)
    cli.add_typer(group, name="study")


def import_command(
    path: Annotated[
        Path, typer.Argument(help="Study folder, .zip of a study folder, or LETOR file.")
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be imported; write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import a study, or add new data to one of the same slug; all of it or nothing."""
    try:
        report = _preview(path) if dry_run else _import(path)
    except StudyRefused as refused:
        for problem in refused.problems:
            typer.echo(f"topkapi: {problem}", err=True)
        first = "the first " if refused.more else ""
        count = len(refused.problems)
        raise Refused(
            f"{path}: nothing was imported; fix {first}{count} problem{'s' * (count != 1)} above"
        ) from None
    say(as_json, report.as_json(), "\n".join(report.lines()))


def _preview(path: Path) -> ImportReport:
    with (
        open_sessions() as sessions,
        late_bar() as bar,
        open_source(path) as source,
        sessions.read() as session,
    ):
        return preview_study(session, source, progress=bar)


def _import(path: Path) -> ImportReport:
    with (
        open_sessions() as sessions,
        late_bar() as bar,
        open_source(path) as source,
        sessions.write.begin() as session,
    ):
        return import_study(session, source, progress=bar)


def list_command(as_json: AsJson = False) -> None:
    """List the studies with their sizes and finished work."""
    with open_sessions() as sessions, sessions.read() as session:
        rows = [_facts(*row) for row in studies_with_counts(session)]
    lines = [
        f"{row['slug']:<28} {row['queries']:>6} queries {row['documents']:>8} documents "
        f"{row['finished']:>5} of {row['assignments']} finished  {row['name']}"
        f"{' (archived)' if row['archived'] else ''}"
        for row in rows
    ]
    say(
        as_json,
        rows,
        "\n".join(lines) or "no studies yet; import one with: topkapi study import PATH",
    )


def _facts(study: Any, *counts: int) -> dict[str, Any]:
    names = ("queries", "documents", "candidates", "assignments", "finished")
    return {
        "slug": study.slug,
        "name": study.name,
        "tools": study.settings.get("tools", []),
        "k": study.settings.get("k"),
        "created_at": study.created_at.isoformat(),
        "archived": study.archived_at is not None,
        **dict(zip(names, counts, strict=True)),
    }

"""`topkapi study`: begin, import and list studies; further commands are in `work`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from topkapi.app.cli.common import AsJson, database_exists, late_bar, open_sessions, say, table
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.cli.study import administration, work

if TYPE_CHECKING or RUNNING:
    from topkapi.app.config import Settings
    from topkapi.app.db.engine import Sessions
    from topkapi.app.db.queries.studies.studies import studies_with_counts
    from topkapi.app.services.importing import (
        EditPolicy,
        ImportReport,
        ReadOptions,
        StudyRefused,
        import_and_commit,
        open_source,
    )
    from topkapi.app.services.importing.layout.head import slug_of
    from topkapi.app.services.studies.copy_import import import_copy, is_copy
    from topkapi.app.services.studies.records import StudyRecord
    from topkapi.app.services.studies.starter import starter_files

commands = typer.Typer()
commands.add_typer(work.commands)
commands.add_typer(administration.commands)


@commands.command("new", epilog="Example: topkapi study new tulips")
def new_command(
    name: Annotated[str, typer.Argument(help="Name of the study; the folder is named after it.")],
    as_json: AsJson = False,
) -> None:
    """Write a small study into a new folder, to edit and import."""
    slug = slug_of(name)
    folder = Path(slug)
    if folder.exists():
        raise Refused(f"{folder} already exists: choose another name, or remove it")
    folder.mkdir()
    for file, text in starter_files(name).items():
        (folder / file).write_text(text, encoding="utf-8")
    lines = [f"a study with 2 queries is in {folder}: edit its files, then run"]
    lines += [f"  topkapi study import {folder} --dry-run", f"  topkapi study import {folder}"]
    say(as_json, {"folder": str(folder), "slug": slug}, "\n".join(lines))


@commands.command("import", epilog="Example: topkapi study import my-study.zip --dry-run")
def import_command(
    path: Annotated[
        Path,
        typer.Argument(help="Study folder, .zip or .tar.gz of one, full copy, or LETOR file."),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be imported; write nothing.")
    ] = False,
    edits: Annotated[
        Literal["keep", "replace"] | None,
        typer.Option(
            help="If name, guidelines or settings were edited in the study: keep all edits, or "
            "replace them with the files. If omitted, edits are kept, and the import is refused "
            "if the files changed as well."
        ),
    ] = None,
    queries: Annotated[
        int | None, typer.Option(min=1, help="Import only the first N queries with candidates.")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option(min=1, help="Import only the first N candidates per query.")
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="Choose among several files by a word in their names, such as train."),
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the study, instead of its own.")] = None,
    slug: Annotated[
        str | None, typer.Option(help="Import the study under this slug instead of its own.")
    ] = None,
    leave_out: Annotated[
        Literal["missing"] | None,
        typer.Option(help="Leave out and count candidates whose document is missing or empty."),
    ] = None,
    pool: Annotated[
        int | None,
        typer.Option(min=1, help="Pool the first N documents of each run as candidates."),
    ] = None,
    prior: Annotated[
        Path | None,
        typer.Option(
            help="TREC run with a ranker's scores, which help the sorter robust choose questions."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Import a study, or add data to the study of the same slug; all or nothing."""
    options = ReadOptions(queries, candidates, split, name, slug, leave_out, pool)
    try:
        if is_copy(path):
            with _sessions_for(dry_run=dry_run) as sessions:
                report = import_copy(sessions, path, slug=slug, dry_run=dry_run)
        else:
            with (
                open_source(path, beside={} if prior is None else {"prior": prior}) as source,
                _sessions_for(dry_run=dry_run) as sessions,
                late_bar() as bar,
            ):
                how: dict[str, Any] = {"options": options, "policy": EditPolicy(edits)}
                report = import_and_commit(sessions, source, **how, progress=bar, dry_run=dry_run)
    except StudyRefused as refused:
        lines = [
            str(problem)
            for cause, problems in refused.by_file()
            for problem in ([cause, *problems] if cause else problems)
        ]
        first = "the first " if refused.more else ""
        count = len(refused.problems)
        raise Refused(
            f"{path}: nothing was imported; fix {first}{count} problem{'s' * (count != 1)} above",
            lines,
        ) from None
    say(as_json, report.as_json(), "\n".join(report.lines()))


@contextmanager
def _sessions_for(*, dry_run: bool) -> Iterator[Sessions]:
    """Yield sessions for an import; a dry run without a database gets one that is thrown away."""
    settings = Settings()
    with TemporaryDirectory() as folder:
        if dry_run and not database_exists(settings):
            url = f"sqlite:///{folder}/empty.db"
            settings = settings.model_copy(update={"database_url": url})
        with open_sessions(settings, create=True) as sessions:
            yield sessions


@commands.command("list", epilog="Example: topkapi study list --json")
def list_command(as_json: AsJson = False) -> None:
    """List the studies with their sizes and finished work."""
    with open_sessions() as sessions, sessions.read() as session:
        found = [StudyRecord.of(*row) for row in studies_with_counts(session)]
    rows = [{**asdict(each), "created_at": each.created_at.isoformat()} for each in found]
    columns = ("slug", "queries", "documents", "assignments", "finished")
    lines = [
        (*(row[name] for name in columns), row["name"] + " (archived)" * row["archived"])
        for row in rows
    ]
    none = "no studies yet; import one with: topkapi study import PATH"
    say(as_json, rows, table((*columns, "name"), lines) if rows else none)

"""`topkapi study assign`, `archive` and `progress`: assign work, archive a study, show progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli.common import AsJson, Slug, open_sessions, say, table
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from sqlalchemy.orm import Session

    from topkapi.analysis.data.exports.cells import csv_text
    from topkapi.app.db.queries.progress import Ordered
    from topkapi.app.db.queries.studies.studies import required_study
    from topkapi.app.services.accounts.users import user_of_email
    from topkapi.app.services.assignments import manual_assignment, rotation
    from topkapi.app.services.assignments.csv_file import CsvRefused, assign_csv
    from topkapi.app.services.assignments.records import NamedWork, named_work
    from topkapi.app.services.assignments.steps import spec_of
    from topkapi.app.services.progress import study_progress
    from topkapi.app.services.progress.study_progress import Figures, Line
    from topkapi.app.services.progress.tables import HEAD, Rates, payments
    from topkapi.app.services.studies import lifecycle

commands = typer.Typer()

_ALL = 1_000_000


@commands.command(
    "assign",
    epilog="Example: topkapi study assign tulips --to ansa@lehto.example "
    "--to bao@trinh.example --rounds 1 --dry-run",
)
def assign_command(
    slug: Slug,
    to: Annotated[
        list[str] | None,
        typer.Option("--to", help="E-mail of an assessor; repeat for each, in order."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, help="Total number of rounds.", show_default="as before, or 1"),
    ] = None,
    seed: Annotated[
        str | None, typer.Option(help="Seed for the folds; the slug if omitted.")
    ] = None,
    lists: Annotated[
        bool,
        typer.Option("--lists", help="Assign list comparisons, which have a separate rotation."),
    ] = False,
    csv: Annotated[
        Path | None,
        typer.Option(help="CSV file with query, assessor, tool, round, instead of --to."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be assigned; write nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Assign work by rotation or from a CSV file; all or nothing."""
    if (csv is None) == (not to):
        raise Refused("give either the assessors with --to, once for each, or a file with --csv")
    with open_sessions() as sessions:
        if csv is not None:
            with sessions.write.begin() as session:
                rows = _by_csv(session, slug, csv, dry_run)
        else:
            how: dict[str, Any] = {"rounds": rounds, "seed": seed, "lists": lists}
            with sessions.read() if dry_run else sessions.write.begin() as session:
                rows = _rotated(session, slug, to or [], how, dry_run)
    verb = "would be created" if dry_run else "created"
    done = "" if rows or csv else "; --rounds is the total number, and all of these are assigned"
    head = work_lines(slug, rows, verb + done)[0]
    data = {"study": slug, "dry_run": dry_run, "work": [asdict(row) for row in rows]}
    say(as_json, data, "\n".join([head, *_loads(rows)]) if dry_run else head)


def _loads(rows: list[NamedWork]) -> Iterator[str]:
    """Yield a table of how much each assessor would get; ``--json`` lists the work."""
    tools = list(dict.fromkeys(row.tool for row in rows))
    count = Counter((row.assessor, row.tool) for row in rows)
    loads = {row.assessor: [count[row.assessor, tool] for tool in tools] for row in rows}
    if rows:
        lines = [[email, *load, sum(load)] for email, load in loads.items()]
        yield table(["assessor", *tools, "all"], lines)
        yield "--json lists every assignment"


def _by_csv(session: Session, slug: str, path: Path, dry_run: bool) -> list[NamedWork]:
    study = required_study(session, slug)
    try:
        made = assign_csv(session, study, path.read_bytes())
    except CsvRefused as refused:
        lines = [f"{path}, {problem}" for problem in refused.problems]
        raise Refused(f"{path}: nothing was assigned; fix the lines above", lines) from None
    rows = named_work(session, study.id, map(spec_of, made))
    if dry_run:
        session.rollback()
    return rows


def _rotated(
    session: Session, slug: str, emails: list[str], how: dict[str, Any], dry_run: bool
) -> list[NamedWork]:
    study = required_study(session, slug)
    ids = [user_of_email(session, email).id for email in emails]
    with manual_assignment.explaining(session, study):
        if dry_run:
            added = rotation.plan_rotation(session, study, ids, **how).added
        else:
            added = [spec_of(row) for row in rotation.assign_rotation(session, study, ids, **how)]
    return named_work(session, study.id, added)


def work_lines(slug: str, rows: list[NamedWork], verb: str) -> list[str]:
    """Return what was done to assignments, and a line for each of them."""
    head = f"{slug}: {len(rows)} assignment{'s' * (len(rows) != 1)} {verb}"
    return [head] + [
        f"  {row.assessor:<36} {row.tool:<7} round {row.round_number}  {row.query}" for row in rows
    ]


@commands.command("archive", epilog="Example: topkapi study archive everyday-questions")
def archive_command(
    slug: Slug,
    undo: Annotated[bool, typer.Option("--undo", help="Unarchive the study.")] = False,
    as_json: AsJson = False,
) -> None:
    """Archive a study: remove it from all queues (judgments are kept)."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        (lifecycle.unarchive if undo else lifecycle.archive)(session, study)
    outcome = "is no longer archived" if undo else "is archived"
    say(as_json, {"slug": slug, "archived": not undo}, f"{slug} {outcome}")


@commands.command("progress", epilog="Example: topkapi study progress everyday-questions --json")
def progress_command(slug: Slug, as_json: AsJson = False) -> None:
    """Print the progress of a study: overall, and per assessor."""
    with open_sessions() as sessions, sessions.read() as session:
        study = required_study(session, slug)
        seen = study_progress.overview(session, study)
        people, _ = study_progress.people(session, Ordered("name", False, "", _ALL, 0), seen)
    rows = [{"assessor": user.email, "name": user.name, **_facts(line)} for user, line in people]
    data = {
        "study": slug,
        **_facts(seen.all),
        "tools": {tool.value: _facts(line) for tool, line in seen.tools.items()},
        "assessors": rows,
    }
    say(as_json, data, "\n".join(_table(slug, seen.all, people)))


def _table(slug: str, whole: Line, people: list[tuple[Any, Line]]) -> list[str]:
    lines = [f"{slug}: {_progress_text(whole)}"]
    return lines + [f"  {user.name:<28} {_progress_text(line)}" for user, line in people]


def _progress_text(line: Line) -> str:
    pace = "" if line.seconds is None else f", {line.seconds:.1f} s each"
    left = "" if line.left is None else f", about {line.left} left"
    again = "" if line.consistency is None else f", {line.consistency:.0%} of checks the same"
    ends = line.accuracy_interval
    right = f", {line.accuracy:.0%} right ({ends[0]:.0%} to {ends[1]:.0%})" if ends else ""
    return (
        f"{line.sums.finished:>4} of {line.promised} finished, {line.sums.answered} answers"
        f"{pace}{left}{again}{right}"
    )


def _facts(line: Line) -> dict[str, Any]:
    at = line.sums.last_entry_at
    return {
        **asdict(Figures.of(line)),
        "last_entry_at": at.isoformat() if at else None,
        "seconds_per_answer": line.seconds,  # both until the next release; the API has other names
        "accuracy_interval": line.accuracy_interval,
    }


@commands.command(
    "payments", epilog="Example: topkapi study payments everyday-questions --per-hour 12.5"
)
def payments_command(
    slug: Slug,
    per_hour: Annotated[str, typer.Option(help="Amount per active hour.", metavar="N")] = "0",
    per_query: Annotated[str, typer.Option(help="Amount per finished query.", metavar="N")] = "0",
    as_json: AsJson = False,
) -> None:
    """Print hours and amounts per assessor as CSV; the rates are not stored."""
    rates = Rates(_rate("--per-hour", per_hour), _rate("--per-query", per_query))
    with open_sessions() as sessions, sessions.read() as session:
        found = list(payments(session, required_study(session, slug), rates))
    text = csv_text([HEAD, *(each.row() for each in found)]).rstrip("\n")
    plain = {"active_hours": float, "amount": float}
    rows = [
        {**asdict(each), **{name: to(getattr(each, name)) for name, to in plain.items()}}
        for each in found
    ]
    say(as_json, rows, text)


def _rate(option: str, value: str) -> Decimal:
    try:
        rate = Decimal(value)
        if 0 <= rate <= 1_000_000:
            return rate
    except InvalidOperation:
        pass
    raise Refused(f"{option}: enter a number from 0 to 1000000, not {value!r}")

"""`topkapi systems`: TREC runs of a study, and their scores on people's labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli.common import AsJson, Slug, open_sessions, say, shown_figure, table
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.domain.errors import NotFound

if TYPE_CHECKING or RUNNING:
    from topkapi.analysis.data.exports.cells import csv_text
    from topkapi.analysis.report.serialise import record_of
    from topkapi.analysis.report.subjects.leaderboard import Leaderboard, queries_needed
    from topkapi.analysis.report.subjects.systems import ScoredSystem, SystemScores, table_rows
    from topkapi.app.db.queries.studies.studies import required_study
    from topkapi.app.services.results.exports import export_session
    from topkapi.app.services.results.systems.cache import SystemReports
    from topkapi.app.services.results.systems.runs import (
        RunsRefused,
        StoredRun,
        add_runs,
        read_runs,
        remove_run,
        runs_of,
    )

commands = typer.Typer()


@commands.command(epilog="Example: topkapi systems add everyday-questions run.txt dense.run.gz")
def add(
    slug: Slug,
    files: Annotated[list[Path], typer.Argument(help="TREC runs, plain or gzip.", exists=True)],
    as_json: AsJson = False,
) -> None:
    """Add TREC runs to a study, one system per tag; all of them or none."""
    try:
        read = read_runs([(path.name, path.read_bytes()) for path in files])
        with open_sessions() as sessions, sessions.write.begin() as session:
            facts = [_facts(run) for run in add_runs(session, required_study(session, slug), read)]
    except RunsRefused as error:
        raise Refused(str(error), tuple(map(str, error.problems))) from None
    say(as_json, facts, "\n".join(f"{slug}: added {_line(each)}" for each in facts))


@commands.command("list", epilog="Example: topkapi systems list everyday-questions --json")
def list_runs(slug: Slug, as_json: AsJson = False) -> None:
    """List the runs of a study."""
    with open_sessions() as sessions, sessions.read() as session:
        facts = [_facts(run) for run in runs_of(session, required_study(session, slug))]
    columns = ("system", "queries", "lines")
    rows = [[each[name] for name in columns] for each in facts]
    none = f"{slug} has no runs: add some with topkapi systems add"
    say(as_json, facts, table(columns, rows) if rows else none)


@commands.command(epilog="Example: topkapi systems remove everyday-questions dense")
def remove(
    slug: Slug,
    system: Annotated[str, typer.Argument(help="Name of the system, as systems list prints it.")],
    as_json: AsJson = False,
) -> None:
    """Remove the run of a system."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        study = required_study(session, slug)
        known = {run.system: run.id for run in runs_of(session, study)}
        if system not in known:
            raise NotFound(f"The study {slug!r} has no run of {system!r}.")
        facts = _facts(remove_run(session, study, known[system]))
    say(as_json, facts, f"{slug}: removed {system}")


@commands.command(epilog="Example: topkapi systems scores everyday-questions --baseline bm25")
def scores(
    slug: Slug,
    baseline: Annotated[str | None, typer.Option(help="System to compare the others with.")] = None,
    truth: Annotated[
        str | None,
        typer.Option(help="topk (the default if there are lists) or graded."),
    ] = None,
    measure: Annotated[
        str | None, typer.Option(help="Measure to print, such as map; the main one if omitted.")
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Use only queries that all systems have.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="CSV file for all systems and measures.")] = None,
    as_json: AsJson = False,
) -> None:
    """Score all systems on people's labels, and compare them with a baseline."""
    with open_sessions() as sessions, export_session(sessions) as session:
        report = SystemReports().report(
            session, slug, truth=truth, baseline=baseline, shared=shared
        )
    if report.scores is None and report.leaderboard is None:
        raise Refused(
            f"{slug}: there is nothing to score: add runs with topkapi systems add, and have "
            "queries judged"
        )
    if out is not None and report.scores is not None:
        out.write_text(csv_text(table_rows(report.scores)), encoding="utf-8")
    parts = [
        *([_scores(report.scores, measure)] if report.scores else []),
        *([_leaders(report.leaderboard)] if report.leaderboard else []),
    ]
    say(as_json, record_of(report), "\n\n".join(parts))


def _facts(run: StoredRun) -> dict[str, Any]:
    return {
        **{"system": run.system, "file": run.file, "queries": run.queries},
        **{"lines": run.lines, "added_at": run.added_at.isoformat()},
    }


def _line(facts: dict[str, Any]) -> str:
    return f"{facts['system']:<24} {facts['queries']} queries, {facts['lines']} lines"


def _scores(scores: SystemScores, measure: str | None) -> str:
    name = measure or scores.measures[0]
    if name not in scores.measures:
        raise Refused(f"--measure: {name!r} is not one of {', '.join(scores.measures)}")
    lines = [f"{name} on {scores.queries} queries ({scores.truth}), 95 % intervals over queries"]
    lines += [_system(each, name, scores.queries) for each in scores.systems]
    if any(each.queries < scores.queries for each in scores.systems):
        lines.append(
            "  queries that a system lacks count as nothing found; --shared leaves them out"
        )
    return "\n".join(lines)


def _system(each: ScoredSystem, measure: str, queries: int) -> str:
    score = each.score(measure)
    share = "" if each.unjudged is None else f"  unjudged {each.unjudged:.0%}"
    share += f"  {each.queries} of {queries} queries" if each.queries < queries else ""
    gap = score.difference
    compared = (
        "" if gap is None else f"  {shown_figure(gap.figure)}  p {gap.p_holm:.3f}  {gap.verdict}"
    )
    return f"  {each.system:<24} {shown_figure(score.mean)}{compared}{share}"


def _leaders(board: Leaderboard) -> str:
    head = f"Leaderboard from {board.comparisons} comparisons of lists on {board.queries} queries"
    lines = [
        f"  {row.rank:>3} {row.system:<24} {shown_figure(row.worth)}  "
        f"{row.wins} won, {row.losses} lost, {row.same} the same"
        for row in board.rows
    ]
    needed = queries_needed(len(board.rows))
    if board.queries < needed:
        lines.append(
            f"  too few queries to tell {len(board.rows)} systems apart: {needed} are needed"
        )
    agreed = f"  agreement of assessors: {shown_figure(board.agreement.overall)}"
    return "\n".join([head, *lines, agreed])

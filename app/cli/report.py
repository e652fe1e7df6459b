"""`topkapi report`: agreement and effort of a study, or of files, as a page, tables and plots."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli import choices
from topkapi.app.cli.common import AsJson, late_bar, open_sessions, say, shown_figure, with_options
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from topkapi.analysis.aggregation import METHODS, Method
    from topkapi.analysis.report import Options, Report, build_report
    from topkapi.analysis.report.files import write_report, write_texts
    from topkapi.analysis.report.methods import StudyFacts, methods_texts
    from topkapi.analysis.report.serialise import record_of
    from topkapi.analysis.report.sources import read_preferences
    from topkapi.analysis.report.subjects.agreement import EXPLANATIONS, measure_rows
    from topkapi.app.services.results.exports import ExportOptions, StudySource, export_session
    from topkapi.app.services.results.reports.service import facts_of, make_report

commands = typer.Typer()

_ANSWERS = (
    "Agreement counts the answers in the files. The report of a study, or of its topk.jsonl, "
    "counts the preferences that finished lists imply: more pairs, and other figures."
)


@dataclass(frozen=True)
class ReportCommand:
    """The arguments and options of the command."""

    names: Annotated[
        list[str] | None,
        typer.Argument(help="Slug of a study; with --from, further files.", metavar="STUDY"),
    ] = None
    source: Annotated[
        list[Path] | None,
        typer.Option("--from", help="File of preferences, plain or gzipped; several are compared."),
    ] = None
    out: Annotated[Path, typer.Option(help="Folder for the page, tables and plots.")] = Path(
        "report"
    )
    format: Annotated[
        str | None,
        typer.Option(help=f"{', '.join(choices.PREFERENCE_FORMATS)}; detected if omitted."),
    ] = None
    k: Annotated[
        int | None,
        typer.Option(min=1, help="Length of the consensus lists from files; all if omitted."),
    ] = None
    preference: Annotated[
        str | None,
        typer.Option(
            help="Whether preferences in files of pairs are codes (a, b, tie, 1, -1, ...) or ids "
            "of documents; detected if omitted."
        ),
    ] = None
    leave_out_self: Annotated[
        bool,
        typer.Option(
            "--leave-out-self",
            help="Leave out (and count) answers in files that compare a document with itself.",
        ),
    ] = False
    pseudonyms: Annotated[
        bool, typer.Option("--pseudonyms", help="Write assessor-01 ... instead of a study's names.")
    ] = False
    confidence: Annotated[
        bool,
        typer.Option(
            "--confidence",
            help="Include the confidence of each list; takes a third of a second per session.",
        ),
    ] = False
    consensus: Annotated[
        str | None,
        typer.Option(
            help="bradley-terry over answers (the default if there are answers), or "
            "supervised-kemeny over lists."
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="Seed for resampling queries.")] = 0
    draws: Annotated[int, typer.Option(min=100, help="Resamples for the intervals.")] = 2000
    plots: Annotated[bool, typer.Option(help="Also write the page's plots as SVG files.")] = True
    methods: Annotated[
        bool,
        typer.Option("--methods", help="Also write the methods section of a paper, .md and .tex."),
    ] = False
    as_json: AsJson = False

    @property
    def resampling(self) -> Options:
        """How intervals are computed."""
        return Options(seed=self.seed, draws=self.draws)

    @property
    def method(self) -> Method | None:
        """The chosen method of consensus."""
        for each in METHODS:
            if self.consensus == each:
                return each
        if self.consensus is not None:
            raise Refused(f"--consensus: {self.consensus!r} is not one of {', '.join(METHODS)}")
        return None


@commands.command(
    epilog="Examples: topkapi report everyday-questions --out report/; "
    "topkapi report --from crowd.pref.gz local.pref.gz --out report/"
)
@with_options(ReportCommand)
def report(options: ReportCommand) -> None:
    """Report the assessors' agreement and effort.

    Writes report.html (one self-contained page), report.json, CSV tables, plots, and the consensus
    lists into a folder.
    """
    made, facts = _of_files(options) if options.source else _of_study(options)
    with _progress("Writing the report ..."):
        written = write_report(made, options.out, plots=options.plots)
        if options.methods:
            written += write_texts(methods_texts(made, facts), options.out)
    say(options.as_json, record_of(made), _summary(made, options.out, len(written)))


def _of_files(options: ReportCommand) -> tuple[Report, None]:
    """Return the report of files; how they were judged is not known."""
    method = options.method
    if options.pseudonyms:
        raise Refused("--pseudonyms works only for a study, not for files")
    if options.confidence:
        raise Refused(
            "--confidence works only for a study: files do not record how they were judged"
        )
    left_out: list[str] | None = [] if options.leave_out_self else None
    with _progress("Counting votes and resampling queries ..."):
        study = read_preferences(
            [*(options.source or ()), *map(Path, options.names or ())],
            format=options.format,
            k=options.k,
            preference=options.preference,
            left_out=left_out,
        )
        found = build_report(study, options.resampling, method=method)
    notes = [_ANSWERS] if any(each.judgments and not each.scores for each in study.tools) else []
    if left_out:
        many = f"{len(left_out)} answers" if len(left_out) > 1 else "1 answer"
        about = f"{many} that compare a document with itself, the first at {left_out[0]}."
        notes.append(f"Left out: {about}")
    return replace(found, notes=tuple(notes)) if notes else found, None


def _of_study(options: ReportCommand) -> tuple[Report, StudyFacts]:
    """Return the report of a study, and how the study was run."""
    wanted = ExportOptions(pseudonyms=options.pseudonyms, consensus=options.method)
    if options.leave_out_self or (options.format, options.k, options.preference) != (None,) * 3:
        raise Refused(
            "--format, --preference, --leave-out-self and --k work only for files (--from)"
        )
    names = options.names or []
    if len(names) != 1:
        raise Refused("give the slug of one study, or files of preferences with --from")
    with open_sessions() as sessions, export_session(sessions) as session, late_bar() as bar:
        source = StudySource(
            session, names[0], wanted, lambda _doing, done, total: bar("reading", done, total)
        )
        found = make_report(
            source,
            pseudonyms=options.pseudonyms,
            confidence=options.confidence,
            options=options.resampling,
        )
        return found, facts_of(source)


@contextmanager
def _progress(message: str) -> Iterator[None]:
    """Show one line of progress, on a terminal only."""
    shown = sys.stderr.isatty()
    if shown:
        typer.echo(message, err=True, nl=False)
    try:
        yield
    finally:
        if shown:
            typer.echo("\r\033[K", err=True, nl=False)


def _summary(found: Report, out: Path, files: int) -> str:
    lines = list(found.notes or ())
    for tool in found.tools:
        lines.append(f"{tool.title}: {tool.agreement.votes} shared votes")
        for row in measure_rows([tool.agreement]):
            lines.append(f"  {EXPLANATIONS[row.key].title:<24}{shown_figure(row.figures[0], '  ')}")
    lines.append(f"{files} files written to {out}; open {out / 'report.html'}")
    return "\n".join(lines)

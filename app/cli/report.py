"""`topkapi report`: agreement and effort, as a page, tables, plots and JSON."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from analysis.errors import AnalysisError
from analysis.report import Options, build_report
from analysis.report.figures import Json
from analysis.report.files import write_report
from analysis.report.sources import FORMATS, read_preferences
from app.cli.common import AsJson, say
from app.cli.failures import Refused


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    cli.command(
        epilog="Example: topkapi report --from crowd.pref.gz local.pref.gz --out report/",
    )(report)


def report(
    names: Annotated[
        list[str] | None, typer.Argument(help="More files after --from.", metavar="[FILE]...")
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option("--from", help="A file of preferences, gzip or plain; several are compared."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, tables and plots.")] = Path(
        "report"
    ),
    format: Annotated[
        str | None, typer.Option(help=f"{', '.join(FORMATS)}; seen from the files if left out.")
    ] = None,
    k: Annotated[
        int | None, typer.Option(min=1, help="Length of the consensus lists; all if left out.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of resampled queries.")] = 0,
    draws: Annotated[int, typer.Option(min=100, help="Resamples for the intervals.")] = 2000,
    plots: Annotated[bool, typer.Option(help="Also draw plots as PNG and SVG.")] = True,
    as_json: AsJson = False,
) -> None:
    """Report how much assessors agree, and what their work cost.

    Writes report.html (one page that needs nothing else), report.json, CSV tables, plots, and the
    consensus lists into a folder.
    """
    if not source:
        raise Refused("name at least one file of preferences with --from")
    paths = [*source, *(Path(name) for name in names or [])]
    try:
        with _progress():
            study = read_preferences(paths, format=format, k=k)
            found = build_report(study, Options(seed=seed, draws=draws))
            written = write_report(found, out, plots=plots)
    except AnalysisError as error:
        raise Refused(str(error)) from None
    say(as_json, found, _summary(found, out, len(written)))


@contextmanager
def _progress() -> Iterator[None]:
    """One line while it works, on a terminal only: the steps have no common measure."""
    told = sys.stderr.isatty()
    if told:
        typer.echo("Counting votes and resampling queries ...", err=True, nl=False)
    try:
        yield
    finally:
        if told:
            typer.echo("\r\033[K", err=True, nl=False)


def _summary(found: Json, out: Path, files: int) -> str:
    lines = []
    for tool in found["tools"]:
        figures = tool["agreement"]
        lines.append(f"{tool['title']}: {figures['votes']} shared votes")
        for label, key in (
            ("agreement", "overall"),
            ("without ties", "without_ties"),
            ("Cohen's kappa", "cohen_kappa"),
            ("Fleiss' kappa", "fleiss_kappa"),
            ("Krippendorff's alpha", "krippendorff_alpha"),
            ("Gwet's AC1", "gwet_ac1"),
        ):
            lines.append(f"  {label:<22}{_figure(figures[key])}")
    lines.append(f"{files} files written to {out}; open {out / 'report.html'}")
    return "\n".join(lines)


def _figure(found: Json) -> str:
    if found["value"] is None:
        return f"undefined: {found['reason']}"
    if found.get("low") is None:
        return f"{found['value']:.4f}"
    return f"{found['value']:.4f}  ({found['low']:.4f} to {found['high']:.4f})"

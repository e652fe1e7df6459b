"""`topkapi simulate`: what a sorter costs and yields, from simulated sessions."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated

import typer

from app.cli.failures import Refused
from app.domain.plan import Plan
from app.domain.sorting import SORTERS
from app.services.simulating import Setting, Summary, summarise


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    cli.command(
        epilog="Example: topkapi simulate --n 50 --k 10 --sorter heap --error 0.1 --runs 1000"
    )(simulate)


def simulate(
    n: Annotated[int, typer.Option(min=0, max=1000, help="Documents of a query.")] = 50,
    k: Annotated[int, typer.Option(min=1, help="Length of the list.")] = 10,
    sorter: Annotated[
        str, typer.Option(help=f"{', '.join(SORTERS)}, or all; several with commas.")
    ] = "heap",
    runs: Annotated[int, typer.Option(min=1, help="Simulated sessions of each kind.")] = 1000,
    error: Annotated[
        str, typer.Option(help="How often the assessor errs, 0 to 1; several with commas.")
    ] = "0",
    ties: Annotated[
        int, typer.Option(min=0, help="Grades whose equals tie; 0: a strict order.")
    ] = 0,
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Ask a pair as often as the sorter wants it.")
    ] = False,
    infer: Annotated[
        bool, typer.Option("--infer-transitive", help="Do not ask what the answers imply.")
    ] = False,
    recheck: Annotated[int, typer.Option(min=0, help="Passes over adjacent winners.")] = 0,
    best_of: Annotated[int, typer.Option(min=1, help="Ask each pair until a majority.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of truths and errors.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")] = False,
) -> None:
    """Simulate sessions: questions asked, and how true the list is that they end with.

    The kappa-NDCG at k compares the list with the true one (Niu et al. 2012, equation 2); overlap
    is the share of the true top k that the list holds.
    """
    settings = [
        Setting(
            Plan(
                order=tuple(range(n)),
                k=k,
                sorter=name,
                reuse_answers=not ask_again,
                infer_transitive=infer,
                recheck=recheck,
                best_of=best_of,
            ),
            error=rate,
            ties=ties,
            runs=runs,
            seed=seed,
        )
        for name in _sorters(sorter)
        for rate in _rates(error)
    ]
    with _progress(settings) as on_runs:
        results = [(each, summarise(each, on_runs=on_runs)) for each in settings]
    if as_json:
        rows = [_row(setting, summary) for setting, summary in results]
        typer.echo(json.dumps(rows[0] if len(rows) == 1 else rows))
    else:
        typer.echo(_table(results))


def _sorters(wanted: str) -> list[str]:
    names = list(SORTERS) if wanted == "all" else wanted.split(",")
    for name in names:
        if name not in SORTERS:
            raise Refused(f"--sorter: there is no sorter {name!r}; there are {', '.join(SORTERS)}")
    return names


def _rates(wanted: str) -> list[float]:
    try:
        rates = [float(each) for each in wanted.split(",")]
    except ValueError:
        raise Refused(f"--error: {wanted!r} is not a number, or numbers with commas") from None
    if not all(0 <= rate <= 1 for rate in rates):
        raise Refused(f"--error: {wanted} is not between 0 and 1")
    return rates


@contextmanager
def _progress(settings: list[Setting]) -> Iterator[Callable[[int], None] | None]:
    """A bar on a terminal if it will take more than two seconds or so, else nothing."""
    if not sys.stderr.isatty() or sum(each.questions for each in settings) < 1_000_000:
        yield None
        return
    with typer.progressbar(
        length=sum(each.runs for each in settings), label="Simulating", file=sys.stderr
    ) as bar:
        yield bar.update


def _row(setting: Setting, summary: Summary) -> dict[str, object]:
    plan = setting.plan
    return {
        "sorter": plan.sorter,
        "n": len(plan.order),
        "k": plan.k,
        "runs": setting.runs,
        "error": setting.error,
        "ties": setting.ties,
        "reuse_answers": plan.reuse_answers,
        "seed": setting.seed,
        **asdict(summary),
    }


def _table(results: list[tuple[Setting, Summary]]) -> str:
    heads = ("sorter", "error", "questions", "sd", "most", "bound", "kappa-NDCG", "overlap")
    lines = [f"{heads[0]:<15}" + "".join(f"{head:>11}" for head in heads[1:])]
    for setting, summary in results:
        lines.append(
            f"{setting.plan.sorter:<15}{setting.error:>11.2f}{summary.judgments_mean:>11.1f}"
            f"{summary.judgments_sd:>11.1f}{summary.judgments_max:>11}{summary.bound:>11}"
            f"{summary.kappa_ndcg_mean:>11.3f}{summary.overlap_mean:>11.3f}"
        )
    return "\n".join(lines)

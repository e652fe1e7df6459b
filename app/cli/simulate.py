"""`topkapi simulate`: questions and quality of sorters, by error models or real votes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import with_options
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.domain.enums import Goal
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors, mean_error_of_people
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.runs import REPEATS, Company
from topkapi.app.domain.simulation.votes import Vote, elections

if TYPE_CHECKING or RUNNING:
    from topkapi.analysis.report.sources import read_votes
    from topkapi.app.services.simulation.sessions import Setting, Summary, Votes, summarise

commands = typer.Typer()

FRONTIER_RATES = "0.05,0.1,0.2"


# Options of simulated people; votes are of real ones
_PEOPLE = frozenset({"error", "error_model", "persistent", "ties", "random_people", "prior"})
_ONE_SORTER = frozenset({"sorter", "goal", "budget", "stop_at"})  # the frontier shows them all


@dataclass(frozen=True)
class SimulateOptions:
    """Options that several of the commands have."""

    n: Annotated[
        int | None,
        typer.Option(min=0, max=1000, help="Documents per query.", show_default="50; of votes all"),
    ] = None
    k: Annotated[int, typer.Option(min=1, help="Length of the list.")] = 10
    sorter: Annotated[
        str,
        typer.Option(
            help=f"{', '.join(SORTERS)}, or all; several comma-separated. robust takes minutes."
        ),
    ] = "heap"
    runs: Annotated[
        int, typer.Option(min=1, help="Simulated sessions per sorter and error rate.")
    ] = 1000
    error: Annotated[
        str | None,
        typer.Option(
            help="Error rate of the assessor, 0 to 1; several comma-separated.",
            show_default=f"0; of the frontier {FRONTIER_RATES}",
        ),
    ] = None
    error_model: Annotated[
        Errors,
        typer.Option(
            help="uniform: equal for all pairs; even, normal: rarer with the distance between "
            "evenly or normally spaced pages; mixed: lapses and even; people: normal, as often as "
            "in sets of real votes. bt is another name for even."
        ),
    ] = Errors.UNIFORM
    persistent: Annotated[
        bool,
        typer.Option("--persistent", help="The assessor repeats the same error when asked again."),
    ] = False
    ties: Annotated[
        int, typer.Option(min=0, help="Number of grades within which pages tie; 0: a strict order.")
    ] = 0
    ask_again: Annotated[
        bool, typer.Option("--ask-again", help="Ask a pair as often as the sorter requests it.")
    ] = False
    infer: Annotated[
        bool,
        typer.Option("--infer-transitive", help="Do not ask questions whose answers are implied."),
    ] = False
    recheck: Annotated[int, typer.Option(min=0, help="Passes over adjacent winners.")] = 0
    best_of: Annotated[
        int, typer.Option(min=1, help="Ask each pair until one side has a majority of N.")
    ] = 1
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Question budget of robust.", show_default="what heap expects to ask"
        ),
    ] = None
    stop_at: Annotated[
        float | None,
        typer.Option(help="Stop robust early at this expected kappa-NDCG, or overlap."),
    ] = None
    goal: Annotated[
        Goal, typer.Option(help="What robust asks for: the order of the top k, or its members.")
    ] = Goal.ORDER
    pair_limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How often robust may ask a pair.",
            show_default=f"1 with votes or --persistent, as in a study, else {REPEATS}",
        ),
    ] = None
    team: Annotated[
        int, typer.Option(min=1, max=50, help="People who are asked in turn about one list.")
    ] = 1
    random_people: Annotated[
        int, typer.Option(min=0, help="How many of them answer at random.")
    ] = 0
    prior: Annotated[
        float | None,
        typer.Option(
            min=-0.99,
            max=0.99,
            help="Use a ranker's scores with this correlation with the true worths.",
        ),
    ] = None
    queries: Annotated[
        int,
        typer.Option(
            min=0, help="Queries that people finish first, from which their errors are learned."
        ),
    ] = 0
    processes: Annotated[
        int | None, typer.Option(min=1, help="Number of parallel processes.", show_default="cores")
    ] = None
    seed: Annotated[int, typer.Option(help="Seed for truths and errors.")] = 1
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False

    def setting(self, votes: Votes | None = None) -> Setting:
        """Return what is simulated, with any sorter and without errors."""
        if self.random_people > self.team:
            many = f"{self.random_people} of a team of {self.team}"
            raise Refused(f"--random-people: {many} are too many")
        once = self.persistent or votes is not None
        plan = Plan(
            order=tuple(range(50 if self.n is None else self.n)),
            k=self.k,
            reuse_answers=not self.ask_again,
            infer_transitive=self.infer,
            recheck=self.recheck,
            best_of=self.best_of,
            budget=self.budget,
            stop_at=self.stop_at,
            pair_limit=self.pair_limit or (1 if once else REPEATS),
            goal=self.goal.value,
        )
        return Setting(
            plan,
            error=0.0,
            ties=self.ties,
            runs=self.runs,
            seed=self.seed,
            errors=self.error_model,
            persistent=self.persistent,
            votes=votes,
            company=Company(self.team, self.random_people, self.prior, self.queries),
        )


@commands.command(
    epilog="Example: topkapi simulate sessions --n 50 --k 10 --sorter heap --error 0.1 --runs 1000"
)
@with_options(SimulateOptions)
def sessions(options: SimulateOptions) -> None:
    """Simulate sessions: questions asked, and quality of the resulting list.

    The kappa-NDCG at k compares the list with the true one (Niu et al. 2012, equation 2); overlap
    is the share of the true top k that the list contains.
    """
    _simulate(options, options.setting())


@commands.command(
    epilog="Example: topkapi simulate votes pairs.tsv --k 5 --budget 90 --sorter heap,robust"
)
@with_options(SimulateOptions, without=_PEOPLE)
def votes(
    file: Annotated[Path, typer.Argument(help="A file of preferences that `report --from` reads.")],
    one_assessor: Annotated[
        bool,
        typer.Option(
            "--one-assessor", help="Take all answers from one person and the truth from the others."
        ),
    ] = False,
    *,
    options: SimulateOptions,
) -> None:
    """Replay real votes; the truth comes from the votes not used as answers."""
    if one_assessor and options.team > 1:
        raise Refused("--one-assessor cannot be combined with --team")
    found = read_elections(file, options.n, one_assessor, options.team)
    if options.queries >= (many := len(found.elections)):
        counted = "1 query" if many == 1 else f"{many} queries"
        raise Refused(f"--queries: {file} has votes on {counted}; give a smaller number")
    _simulate(options, options.setting(found))


@commands.command(
    epilog="Example: topkapi simulate frontier front.png --error-model mixed --runs 100"
)
@with_options(SimulateOptions, without=_ONE_SORTER)
def frontier(
    out: Annotated[Path, typer.Argument(help="Files to write: OUT.png, .svg and .csv.")],
    *,
    options: SimulateOptions,
) -> None:
    """Plot quality against questions, for all sorters and both goals of robust."""
    rates = _rates(options.error, options.error_model, usual=FRONTIER_RATES)
    _frontier(options.setting(), rates, out, options.processes, options.as_json)


def _simulate(options: SimulateOptions, base: Setting) -> None:
    """Simulate each sorter at each error rate, and print the figures."""
    settings = [
        replace(base, plan=replace(base.plan, sorter=name), error=rate)
        for name in _sorters(options.sorter)
        for rate in _rates(options.error, options.error_model)
    ]
    with show_progress(sum(each.runs for each in settings), _work(settings)) as on_runs:
        results = [
            (each, summarise(each, on_runs=on_runs, processes=options.processes))
            for each in settings
        ]
    if options.as_json:
        rows = [_row(setting, summary) for setting, summary in results]
        typer.echo(json.dumps(rows[0] if len(rows) == 1 else rows))
    else:
        typer.echo(_table(results))


def read_elections(path: Path, n: int | None, one_assessor: bool, team: int) -> Votes:
    """Read the votes of a preference file."""
    rows = read_votes(path)
    grouped = elections((row.query, Vote(row.assessor, row.a, row.b, row.answer)) for row in rows)
    if not grouped:
        raise Refused(f"{path} has no votes")
    if one_assessor and max(len(each.assessors) for each in grouped) < 2:
        raise Refused(f"--one-assessor: {path} has only one assessor; no one is left for the truth")
    fewest = min(len(each.assessors) for each in grouped)
    if 1 < team >= fewest:
        raise Refused(
            f"--team: a query of {path} has votes of {fewest} people; with a team of {team}, no "
            "one is left for the truth"
        )
    return Votes(grouped, n, one_assessor)


def _frontier(
    base: Setting, rates: list[float], out: Path, processes: int | None, as_json: bool
) -> None:
    """Draw the figure and write its table."""
    from topkapi.app.services.simulation.frontier import CURVES, frontier, steps
    from topkapi.app.services.simulation.frontier_plot import write_frontier

    stem = out.with_suffix("") if out.suffix in (".png", ".svg", ".csv") else out
    if not stem.parent.is_dir():
        raise Refused(f"OUT: the folder {stem.parent} does not exist")
    if len(base.plan.order) < 2:
        raise Refused("frontier needs two documents or more; give a larger --n")
    one_curve = _work([replace(base, plan=replace(base.plan, sorter="robust"))])
    work = one_curve * len(CURVES) * len(rates)
    with show_progress(steps(base, rates), work) as on_runs:
        found = frontier(base, rates, on_runs=on_runs, processes=processes)
    files = write_frontier(found, stem)
    if as_json:
        typer.echo(json.dumps([asdict(point) for point in found.points]))
    else:
        typer.echo(f"{len(found.points)} points in {', '.join(str(path) for path in files)}")


def _work(settings: list[Setting]) -> int:
    return sum(each.work for each in settings)


def _sorters(wanted: str) -> list[str]:
    names = list(SORTERS) if wanted == "all" else wanted.split(",")
    for name in names:
        if name not in SORTERS:
            raise Refused(f"--sorter: {name!r} is not one of {', '.join(SORTERS)}")
    return names


def _rates(wanted: str | None, model: Errors, usual: str = "0") -> list[float]:
    if model is Errors.PEOPLE:
        if wanted is not None:
            raise Refused("--error: the error model people draws its own rates")
        return [mean_error_of_people()]
    try:
        rates = [float(each) for each in (wanted or usual).split(",")]
    except ValueError:
        raise Refused(f"--error: {wanted!r} is not a number or a comma-separated list") from None
    if not all(0 <= rate <= 1 for rate in rates):
        raise Refused(f"--error: {wanted} is not between 0 and 1")
    if model is not Errors.UNIFORM and any(rate >= 0.5 for rate in rates):
        raise Refused("--error: rates of this error model must be below 0.5")
    return rates


@contextmanager
def show_progress(runs: int, work: int) -> Iterator[Callable[[int], None] | None]:
    """Show a progress bar on a terminal if the work takes more than about two seconds."""
    if not sys.stderr.isatty() or work < 1_000_000:
        yield None
        return
    with typer.progressbar(length=runs, label="Simulating", file=sys.stderr) as bar:
        yield bar.update


def _row(setting: Setting, summary: Summary) -> dict[str, object]:
    plan = setting.plan
    return {
        "sorter": plan.sorter,
        "n": len(plan.order) if setting.votes is None else setting.votes.n,
        "k": plan.k,
        "runs": setting.runs,
        "error": setting.error,
        "error_model": "votes" if setting.votes else setting.errors.value,
        "goal": plan.goal,
        "persistent": setting.persistent,
        "ties": setting.ties,
        "reuse_answers": plan.reuse_answers,
        "seed": setting.seed,
        **asdict(setting.company),
        **asdict(summary),
    }


def _table(results: list[tuple[Setting, Summary]]) -> str:
    voted = any(summary.ceiling_overlap_mean is not None for _, summary in results)
    measured = ("kappa-NDCG", "±", "stated", *(("own", "ceiling") if voted else ()))
    heads = (
        *("sorter", "error", "questions", "sd", "most", "bound"),
        *measured,
        *("overlap", *measured[1:]),
    )
    lines = [f"{heads[0]:<15}" + "".join(f"{head:>11}" for head in heads[1:])]
    for setting, summary in results:
        lines.append(
            f"{setting.plan.sorter:<15}{setting.error:>11.2f}{summary.judgments_mean:>11.1f}"
            f"{summary.judgments_sd:>11.1f}{summary.judgments_max:>11}{summary.bound:>11}"
            f"{summary.kappa_ndcg_mean:>11.3f}{summary.kappa_ndcg_se:>11.3f}"
            f"{_stated(summary.stated_kappa_ndcg_mean):>11}"
            + _beside(summary.own_kappa_ndcg_mean, summary.ceiling_kappa_ndcg_mean)
            + f"{summary.overlap_mean:>11.3f}{summary.overlap_se:>11.3f}"
            f"{_stated(summary.stated_overlap_mean):>11}"
            + _beside(summary.own_overlap_mean, summary.ceiling_overlap_mean)
        )
    return "\n".join(lines)


def _beside(*of_votes: float | None) -> str:
    """Return the columns of real votes; none of simulated people."""
    return "".join(f"{each:>11.3f}" for each in of_votes if each is not None)


def _stated(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"

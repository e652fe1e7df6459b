"""`topkapi plan`: what a study will cost, and how good its lists will be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, open_sessions, say, table, with_options
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.cli.simulate import read_elections
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.simulated_assessors import SETS, Errors
from topkapi.app.domain.pairs.sorters.registry import SORTERS

if TYPE_CHECKING or RUNNING:
    from topkapi.app.services.simulation.pilots import pilot_of
    from topkapi.app.services.simulation.plan_records import (
        Pilot,
        Planned,
        PlannedEffort,
        PlanOptions,
    )
    from topkapi.app.services.simulation.planning import planned

commands = typer.Typer()


@dataclass(frozen=True)
class PlanCommand:
    """The options of the command."""

    queries: Annotated[
        int | None, typer.Option(min=1, help="Number of queries.", show_default="50")
    ] = None
    n: Annotated[
        int | None,
        typer.Option(min=2, max=1000, help="Documents per query.", show_default="50"),
    ] = None
    k: Annotated[int | None, typer.Option(min=1, help="Length of the list.", show_default="10")] = (
        None
    )
    people: Annotated[int, typer.Option(min=1, help="People who share the work.")] = 1
    lists: Annotated[int, typer.Option(min=1, help="Independent lists per query.")] = 1
    team: Annotated[int, typer.Option(min=1, max=50, help="People who make one list together.")] = 1
    prior: Annotated[
        float | None,
        typer.Option(min=-0.99, max=0.99, help="Correlation of a ranker's scores with the truth."),
    ] = None
    sorter: Annotated[str, typer.Option(help=f"One of {', '.join(SORTERS)}.")] = "robust"
    error: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.49,
            help="Error rate of people, if you know it.",
            show_default="drawn from real people's",
        ),
    ] = None
    error_model: Annotated[
        Errors | None,
        typer.Option(
            help="How people err, as in `topkapi simulate`.",
            show_default="people, or normal with an error rate",
        ),
    ] = None
    votes: Annotated[
        Path | None,
        typer.Option(help="Votes of a pilot: a file of preferences that `report --from` reads."),
    ] = None
    study: Annotated[
        str | None,
        typer.Option(
            help="Slug of a study to take queries, documents, k, error rate and time per answer "
            "from, unless an option sets them."
        ),
    ] = None
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds per question.", show_default="20"),
    ] = None
    goal: Annotated[
        float | None, typer.Option(min=0, max=1, help="kappa-NDCG that the lists should reach.")
    ] = None
    difference: Annotated[
        float | None,
        typer.Option(min=0.0001, help="Difference between two systems to detect, with power 0.8."),
    ] = None
    deviation: Annotated[
        float | None,
        typer.Option(
            min=0.0001,
            help="Standard deviation of that difference over queries.",
            show_default="of the systems of --study, else 0.2",
        ),
    ] = None
    runs: Annotated[int, typer.Option(min=2, help="Simulated sessions per line.")] = 100
    processes: Annotated[
        int | None, typer.Option(min=1, help="Number of parallel processes.", show_default="cores")
    ] = None
    seed: Annotated[int, typer.Option(help="Seed for truths and errors.")] = 1
    as_json: AsJson = False

    def planned(self) -> PlanOptions:
        """Return what is planned, without where its people come from."""
        try:
            return PlanOptions(
                **{each.name: getattr(self, each.name) for each in fields(PlanOptions)}
            )
        except Invalid as refused:
            raise Refused(f"--{refused.field}: {refused}") from None


@commands.command(epilog="Example: topkapi plan --queries 50 --people 4 --team 4 --goal 0.9")
@with_options(PlanCommand)
def plan(options: PlanCommand) -> None:
    """Plan a study: questions, hours and expected quality of its lists.

    Prints a line per question budget, with 95 % intervals for the mean over the study's lists.
    """
    if options.votes is not None and options.prior is not None:
        raise Refused("--votes: --prior needs simulated people")
    wanted, votes = options.planned(), None
    if options.votes is not None:
        votes = read_elections(options.votes, options.n, False, options.team)
    with show_progress(options.sorter) as on_runs:
        outcome = planned(
            wanted,
            _pilot(options.study),
            votes=votes,
            on_runs=on_runs,
            processes=options.processes,
        )
    people = _people(outcome) if votes is None else f"Answers are votes from {options.votes}."
    say(options.as_json, asdict(outcome), _text(outcome, people, options.goal, options.difference))


@contextmanager
def show_progress(sorter: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on a terminal for a sorter that takes long."""
    if not sys.stderr.isatty() or not SORTERS[sorter].sampled:
        yield None
        return
    with typer.progressbar(length=1000, label="Simulating", file=sys.stderr) as bar:
        yield lambda done, total: bar.update(1000 * done // total - bar.pos)


def _pilot(slug: str | None) -> Pilot:
    if slug is None:
        return Pilot()
    with open_sessions() as sessions, sessions.read() as session:
        return pilot_of(session, slug)


def _text(planned: Planned, people: str, goal: float | None, difference: float | None) -> str:
    work = planned.work
    count = "1 person" if work.people == 1 else f"{work.people} people"
    lines = [
        f"{work.queries} queries of {planned.documents} documents, top {planned.k}, "
        f"{work.lists * work.queries} lists, {count}, {work.seconds:.0f} s per question",
        people,
        table(
            ("per list", "questions", "hours", "each", "kappa-NDCG", "95 %", "overlap", "95 %"),
            [_cells(each) for each in planned.efforts],
        ),
    ]
    if goal is not None and planned.chosen is None:
        lines.append(f"No line reaches {goal:g}: more people per list, or better trained ones.")
    elif planned.chosen is not None:
        lines.append(
            f"{planned.chosen.questions_per_list:g} questions per list reach {goal:g}: "
            f"{planned.chosen.hours:g} hours, {planned.chosen.hours_per_person:g} each."
        )
    if planned.queries_to_tell_apart is not None:
        lines.append(
            f"A difference of {difference:g} is found with {planned.queries_to_tell_apart} queries."
        )
    return "\n".join(lines)


def _people(plan: Planned) -> str:
    if plan.error_model is Errors.PEOPLE:
        return (
            f"People err as in {SETS} sets of real votes, in {100 * plan.error:.0f} % of their "
            "answers on average. A pilot shows more: --study, --votes."
        )
    return f"People err in {100 * plan.error:g} % of their answers ({plan.error_model} errors)."


def _cells(effort: PlannedEffort) -> list[str]:
    return [
        f"{effort.questions_per_list:.0f}",
        f"{effort.questions:,}",
        f"{effort.hours:,.1f}",
        f"{effort.hours_per_person:,.1f}",
        f"{effort.kappa_ndcg:.3f}",
        "{:.3f} to {:.3f}".format(*effort.kappa_ndcg_interval),
        f"{effort.overlap:.3f}",
        "{:.3f} to {:.3f}".format(*effort.overlap_interval),
    ]

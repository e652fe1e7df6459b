"""`topkapi plan`: what a study will cost, and how good its lists will be."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from topkapi.app.cli.common import AsJson, open_sessions, say, table
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.cli.simulate import REPEATS, read_elections, show_progress
from topkapi.app.domain.pairs.plan import Plan
from topkapi.app.domain.pairs.simulated_assessors import Errors
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.runs import Company

if TYPE_CHECKING or RUNNING:
    from topkapi.analysis.power import queries_to_tell_apart
    from topkapi.app.services.simulation.pilots import Pilot, pilot_of
    from topkapi.app.services.simulation.planning import (
        PlannedEffort,
        PlannedWork,
        cheapest,
        efforts,
        settings_of,
    )
    from topkapi.app.services.simulation.sessions import Setting

SECONDS = 20.0  # for a question, if nothing is known


def register(cli: typer.Typer) -> None:
    """Add the command to the command line."""
    cli.command(epilog="Example: topkapi plan --queries 50 --people 4 --team 4 --goal 0.9")(plan)


def plan(
    queries: Annotated[
        int | None, typer.Option(min=1, help="Queries of the study.", show_default="50")
    ] = None,
    n: Annotated[
        int | None,
        typer.Option(min=2, max=1000, help="Documents per query.", show_default="50"),
    ] = None,
    k: Annotated[
        int | None, typer.Option(min=1, help="Length of the list.", show_default="10")
    ] = None,
    people: Annotated[int, typer.Option(min=1, help="People who share the work.")] = 1,
    lists: Annotated[
        int, typer.Option(min=1, help="Lists per query, made independently of each other.")
    ] = 1,
    team: Annotated[
        int, typer.Option(min=1, max=50, help="People who make one list together.")
    ] = 1,
    prior: Annotated[
        float | None,
        typer.Option(min=-0.99, max=0.99, help="Correlation of a ranker's scores with the truth."),
    ] = None,
    sorter: Annotated[str, typer.Option(help=f"One of {', '.join(SORTERS)}.")] = "robust",
    error: Annotated[
        float | None,
        typer.Option(min=0, max=0.49, help="Error rate of the people.", show_default="0.1"),
    ] = None,
    error_model: Annotated[
        Errors, typer.Option(help="How people err, as in `topkapi simulate`.")
    ] = Errors.NORMAL,
    votes: Annotated[
        Path | None,
        typer.Option(help="Votes of a pilot: a file of preferences that `report --from` reads."),
    ] = None,
    study: Annotated[
        str | None,
        typer.Option(
            help="Slug of a study whose queries, documents, k, error rate and time per answer are "
            "used where no option gives them."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.1, help="Seconds per question.", show_default=f"{SECONDS:.0f}"),
    ] = None,
    goal: Annotated[
        float | None, typer.Option(min=0, max=1, help="kappa-NDCG that the lists should reach.")
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            min=0.0001, help="Difference between two systems that should be found, with power 0.8."
        ),
    ] = None,
    deviation: Annotated[
        float | None,
        typer.Option(
            min=0.0001,
            help="Standard deviation of this difference over queries.",
            show_default="of the systems of --study, else 0.2",
        ),
    ] = None,
    runs: Annotated[int, typer.Option(min=2, help="Simulated sessions per line.")] = 100,
    processes: Annotated[
        int | None, typer.Option(min=1, help="Number of parallel processes.", show_default="cores")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed for truths and errors.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Plan a study: questions, hours and expected quality of its lists.

    A line for each budget of questions; intervals contain the mean over the lists of the study with
    95 %.
    """
    if sorter not in SORTERS:
        raise Refused(f"--sorter: {sorter!r} is not one of {', '.join(SORTERS)}")
    if team > people:
        raise Refused(f"--team: {team} people make a list together, and --people has {people}")
    if votes is not None and prior is not None:
        raise Refused("--votes: --prior needs simulated people")
    known = _pilot(study)
    work = PlannedWork(
        queries or known.queries or 50, lists, people, seconds or known.seconds or SECONDS
    )
    size = n or known.documents or 50
    base = Setting(
        Plan(
            order=tuple(range(size)),
            k=k or known.k or 10,
            sorter=sorter,
            sorter_version=SORTERS[sorter].version,
            pair_limit=REPEATS if SORTERS[sorter].sampled else 1,
        ),
        error=known.error or 0.1 if error is None else error,
        ties=0,
        runs=runs,
        seed=seed,
        errors=error_model,
        votes=None if votes is None else read_elections(votes, n, False, team),
        company=Company(team=team, ranker=prior),
    )
    settings = settings_of(base)
    total, cost = sum(each.runs for each in settings), sum(each.work for each in settings)
    with show_progress(total, cost) as on_runs:
        found = list(efforts(settings, work, on_runs=on_runs, processes=processes))
    needed = None
    if difference is not None:
        needed = queries_to_tell_apart(difference, deviation or known.deviation or 0.2)
    planned = Planned(
        work,
        size,
        base.plan.k,
        base.error,
        tuple(found),
        None if goal is None else cheapest(found, goal),
        needed,
    )
    say(as_json, asdict(planned), _text(planned, goal, difference))


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a study; ``chosen`` is the smallest effort that reaches the goal."""

    work: PlannedWork
    documents: int
    k: int
    error: float
    efforts: tuple[PlannedEffort, ...]
    chosen: PlannedEffort | None
    queries_to_tell_apart: int | None


def _pilot(slug: str | None) -> Pilot:
    if slug is None:
        return Pilot()
    with open_sessions() as sessions, sessions.read() as session:
        return pilot_of(session, slug)


def _text(planned: Planned, goal: float | None, difference: float | None) -> str:
    work = planned.work
    people = "1 person" if work.people == 1 else f"{work.people} people"
    lines = [
        f"{work.queries} queries of {planned.documents} documents, top {planned.k}, "
        f"{work.lists * work.queries} lists, {people}, {work.seconds:.0f} s per question",
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


def _cells(each: PlannedEffort) -> list[str]:
    return [
        f"{each.questions_per_list:.0f}",
        f"{each.questions:,}",
        f"{each.hours:,.1f}",
        f"{each.hours_per_person:,.1f}",
        f"{each.kappa_ndcg:.3f}",
        "{:.3f} to {:.3f}".format(*each.kappa_ndcg_interval),
        f"{each.overlap:.3f}",
        "{:.3f} to {:.3f}".format(*each.overlap_interval),
    ]

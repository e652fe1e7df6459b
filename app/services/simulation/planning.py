"""What a study will cost and how good its lists will be, from simulated sessions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil
from statistics import fmean
from typing import Any

from topkapi.analysis.power import queries_to_tell_apart, student_half
from topkapi.analysis.typing import FloatArray
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.simulated_assessors import Errors, mean_error_of_people
from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.simulation.runs import Company
from topkapi.app.services.simulation.plan_records import (
    LIMITS,
    Pilot,
    Planned,
    PlannedEffort,
    PlannedWork,
    PlanOptions,
)
from topkapi.app.services.simulation.sessions import Results, Setting, Votes, run_setting

BUDGETS = (0.25, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.5)  # fractions of the heap's expected questions
SECONDS = 20.0  # for a question, if nothing is known
MOST_LISTS = 2  # of a query that are simulated: more follow from these


def plan(*, processes: int | None = None, **options: Any) -> Planned:
    """Plan a study: questions, hours and expected quality of its lists, by simulation.

    Parameters
    ----------
    processes
        Number of parallel processes; all cores if None.
    options
        Those of the command `topkapi plan`, with underscores: ``queries``, ``n``, ``k``,
        ``people``, ``lists``, ``team``, ``prior``, ``sorter``, ``error``, ``error_model``,
        ``seconds``, ``goal``, ``difference``, ``deviation``, ``runs``, ``seed``.

    Returns
    -------
    Planned
        ``efforts`` has a record for each budget of questions.

    Examples
    --------
    >>> found = plan(queries=30, n=20, k=5, people=3, sorter="heap", runs=40, processes=1)
    >>> found.efforts[0].questions, found.efforts[0].hours_per_person
    (1246, 2.3)
    >>> plan(sorter="heap", runs=2, difference=0.05, deviation=0.2).queries_to_tell_apart
    128
    """
    return planned(PlanOptions(**options), processes=processes)


def planned(
    options: PlanOptions,
    known: Pilot | None = None,
    *,
    votes: Votes | None = None,
    on_runs: Callable[[int, int], None] | None = None,
    processes: int | None = None,
) -> Planned:
    """Return the plan; ``known`` is used where the options say nothing.

    ``votes`` answer instead of simulated people. ``on_runs`` is called with the number of runs that
    are done, and of all.
    """
    known = known or Pilot()
    work = PlannedWork(
        options.queries or known.queries or 50,
        options.lists,
        options.people,
        options.seconds or known.seconds or SECONDS,
    )
    size, simulated = options.n or known.documents or 50, min(options.lists, MOST_LISTS)
    if size < LIMITS["n"][0]:
        raise Invalid("With one document per query there are no questions to plan.", field="n")
    k = options.k or known.k or 10
    model, error = errors_of(options, known)
    own = replace(known.settings, k=k, sorter=options.sorter, together=False)
    base = Setting(
        replace(own.plan((), ""), order=tuple(range(size)), budget=own.budget),
        error=error,
        ties=0,
        runs=simulated * max(2, ceil(options.runs / simulated)),
        seed=options.seed,
        errors=model,
        persistent=True,
        votes=votes,
        company=Company(team=options.team, ranker=options.prior),
        lists=simulated,
    )
    settings = settings_of(base)
    total, done = sum(each.runs for each in settings), 0

    def count(runs: int) -> None:
        nonlocal done
        done += runs
        if on_runs is not None:
            on_runs(done, total)

    rows = tuple(efforts(settings, work, on_runs=count, processes=processes))
    deviation = options.deviation or known.deviation or 0.2
    return Planned(
        work,
        size,
        base.plan.k,
        base.error,
        rows,
        None if options.goal is None else cheapest(rows, options.goal),
        None
        if options.difference is None
        else queries_to_tell_apart(options.difference, deviation),
        model,
    )


def errors_of(options: PlanOptions, known: Pilot) -> tuple[Errors, float]:
    """Return how people err, and at which mean rate: as real people, unless their rate is known."""
    rate = known.error if options.error is None else options.error
    model = options.error_model or (Errors.PEOPLE if rate is None else Errors.NORMAL)
    if model is Errors.PEOPLE:
        return model, mean_error_of_people()
    return model, 0.1 if rate is None else rate


def settings_of(base: Setting) -> list[Setting]:
    """Return a setting for each budget worth trying; only a sampled sorter has one to choose."""
    plan = base.plan
    if not SORTERS[plan.sorter].sampled:
        return [base]
    usual = heap_questions(len(plan.order), plan.k)
    budgets = sorted({max(1, round(share * usual)) for share in BUDGETS} | {plan.budget or usual})
    return [replace(base, plan=replace(plan, budget=budget)) for budget in budgets]


def efforts(
    settings: Sequence[Setting],
    work: PlannedWork,
    *,
    on_runs: Callable[[int], None] | None = None,
    processes: int | None = None,
) -> Iterator[PlannedEffort]:
    """Simulate each setting; ``on_runs`` is called with the number of runs done."""
    for each in settings:
        yield effort(run_setting(each, on_runs=on_runs, processes=processes), work, each.lists)


def effort(results: Results, work: PlannedWork, lists: int) -> PlannedEffort:
    """Return what the study costs and reaches if its sessions are like the simulated ones.

    Every ``lists`` of them are of one query.
    """
    asked, estimates = float(results.judgments.mean()), results.estimates
    questions = asked * work.queries * work.lists
    hours = questions * work.seconds / 3600
    return PlannedEffort(
        questions_per_list=round(asked, 1),
        questions=round(questions),
        hours=round(hours, 1),
        hours_per_person=round(hours / work.people, 1),
        kappa_ndcg=round(float(results.kappa_ndcg.mean()), 3),
        kappa_ndcg_interval=mean_of_study(results.kappa_ndcg, work, lists),
        overlap=round(float(results.overlap.mean()), 3),
        overlap_interval=mean_of_study(results.overlap, work, lists),
        stated=round(fmean(each.quality for each in estimates), 3) if estimates else None,
    )


def mean_of_study(values: FloatArray, work: PlannedWork, lists: int) -> tuple[float, float]:
    """Return the 95 % prediction interval of the mean over the lists of a study.

    Queries are independent; the lists of a query share its difficulty. So the variance is that of
    the queries' means, with as many lists as the study has, by analysis of variance over ``values``
    (queries x ``lists``). The simulation is a sample too, with its own error and few queries.
    """
    table = values.reshape(-1, lists)
    n = len(table)
    within = float(table.var(axis=1, ddof=1).mean()) if lists > 1 else 0.0
    between = max(float(table.mean(axis=1).var(ddof=1)), within / lists)
    fewer = (1 / work.lists - 1 / lists) / work.queries  # of the study's lists
    parts = (between * (1 / n + 1 / work.queries), n - 1), (within * fewer, n * (lists - 1) or 1)
    half = student_half(parts, 0.95)
    mean = float(values.mean())
    return round(max(0.0, mean - half), 3), round(min(1.0, mean + half), 3)


def cheapest(found: Sequence[PlannedEffort], goal: float) -> PlannedEffort | None:
    """Return the first effort whose expected kappa-NDCG reaches the goal."""
    return next((each for each in found if each.kappa_ndcg >= goal), None)

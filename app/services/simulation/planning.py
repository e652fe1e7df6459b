"""What a study will cost and how good its lists will be, from simulated sessions."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from topkapi.app.domain.pairs.sorters.heap import heap_questions
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.services.simulation.sessions import Setting, Summary, summarise

BUDGETS = (0.25, 0.4, 0.5, 0.65, 0.8, 1.0, 1.25, 1.5)  # fractions of the heap's expected questions
_NORMAL = 1.96  # 95 % of a normal distribution lie within so many standard deviations


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """A planned study: its queries, lists per query, people, and seconds per question."""

    queries: int
    lists: int
    people: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PlannedEffort:
    """Cost and quality of one way to run the study.

    The intervals contain the mean over the lists of the study with 95 %; ``stated`` is what the
    sorter will say about it.
    """

    questions_per_list: float
    questions: int
    hours: float
    hours_per_person: float
    kappa_ndcg: float
    kappa_ndcg_interval: tuple[float, float]
    overlap: float
    overlap_interval: tuple[float, float]
    stated: float | None


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
        yield effort(summarise(each, on_runs=on_runs, processes=processes), work, each.runs)


def effort(summary: Summary, work: PlannedWork, runs: int) -> PlannedEffort:
    """Return what the study costs and reaches if its sessions are like the simulated ones."""
    lists = work.queries * work.lists
    questions = summary.judgments_mean * lists
    hours = questions * work.seconds / 3600
    spread = _NORMAL * (1 / runs + 1 / lists) ** 0.5
    return PlannedEffort(
        questions_per_list=round(summary.judgments_mean, 1),
        questions=round(questions),
        hours=round(hours, 1),
        hours_per_person=round(hours / work.people, 1),
        kappa_ndcg=round(summary.kappa_ndcg_mean, 3),
        kappa_ndcg_interval=_interval(summary.kappa_ndcg_mean, spread * summary.kappa_ndcg_sd),
        overlap=round(summary.overlap_mean, 3),
        overlap_interval=_interval(summary.overlap_mean, spread * summary.overlap_sd),
        stated=None
        if summary.stated_kappa_ndcg_mean is None
        else round(summary.stated_kappa_ndcg_mean, 3),
    )


def cheapest(found: Sequence[PlannedEffort], goal: float) -> PlannedEffort | None:
    """Return the first effort whose expected kappa-NDCG reaches the goal."""
    return next((each for each in found if each.kappa_ndcg >= goal), None)


def _interval(mean: float, half: float) -> tuple[float, float]:
    return round(max(0.0, mean - half), 3), round(min(1.0, mean + half), 3)

"""What is planned, and the plan of a study; loads no numerical library."""

from dataclasses import asdict, dataclass, field
from typing import Any

from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.pairs.simulated_assessors import Errors
from topkapi.app.domain.pairs.sorters.registry import SORTERS
from topkapi.app.domain.study import StudySettings

LIMITS = {
    "queries": (1, 1_000_000),
    "n": (2, 1000),
    "k": (1, 1000),
    "people": (1, 100_000),
    "lists": (1, 1000),
    "team": (1, 50),
    "prior": (-0.99, 0.99),
    "error": (0, 0.49),
    "seconds": (0.1, 86_400),
    "goal": (0, 1),
    "difference": (0.0001, 1_000_000),
    "deviation": (0.0001, 1_000_000),
    "runs": (2, 100_000),
}


@dataclass(frozen=True, slots=True)
class Pilot:
    """Size of a study, seconds per answer, error rate, and spread of its systems' differences.

    Its ``settings`` say how often a pair is asked, and what else determines sessions.
    """

    queries: int | None = None
    documents: int | None = None
    k: int | None = None
    seconds: float | None = None
    error: float | None = None
    deviation: float | None = None
    settings: StudySettings = field(default_factory=StudySettings)


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What is planned; None where a pilot or what is usual decides.

    ``n`` are the documents per query, ``lists`` those per query, ``team`` the people who make one
    list together, ``prior`` the correlation of a ranker's scores with the truth. ``error_model`` is
    usually `Errors.PEOPLE`, and `Errors.NORMAL` where the ``error`` rate is known. ``goal`` is a
    kappa-NDCG, ``difference`` one between two systems, and ``deviation`` its standard deviation.
    """

    queries: int | None = None
    n: int | None = None
    k: int | None = None
    people: int = 1
    lists: int = 1
    team: int = 1
    prior: float | None = None
    sorter: str = "robust"
    error: float | None = None
    error_model: Errors | None = None
    seconds: float | None = None
    goal: float | None = None
    difference: float | None = None
    deviation: float | None = None
    runs: int = 100
    seed: int = 1

    def __post_init__(self) -> None:
        if self.sorter not in SORTERS:
            raise Invalid(f"{self.sorter!r} is not one of {', '.join(SORTERS)}.", field="sorter")
        for name, (low, high) in LIMITS.items():
            value = getattr(self, name)
            if value is not None and not low <= value <= high:
                raise Invalid(f"{value:g} is not between {low:g} and {high:g}.", field=name)
        if self.error is not None and self.error_model is Errors.PEOPLE:
            raise Invalid("The error model people draws its own rates.", field="error")
        if self.team > self.people:
            raise Invalid(
                f"{self.team} people make a list together, of {self.people} in all.", field="team"
            )


def stored_options(options: PlanOptions) -> dict[str, Any]:
    """Return the options that say something, as a job stores them."""
    return {name: value for name, value in asdict(options).items() if value is not None}


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


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan of a study.

    Attributes
    ----------
    work
        Queries, lists per query, people, and seconds per question.
    documents, k, error
        Documents per query, length of a list, and the mean error rate of the people.
    efforts
        Cost and quality for each budget of questions: ``questions_per_list``, ``questions``,
        ``hours``, ``hours_per_person``, ``kappa_ndcg``, ``overlap`` and their intervals.
    chosen
        The smallest effort that reaches the goal, if there is a goal and one does.
    queries_to_tell_apart
        Queries that find the difference between two systems, if one was given.
    error_model
        How the people err; by `Errors.PEOPLE`, queries differ as sets of real votes do.
    """

    work: PlannedWork
    documents: int
    k: int
    error: float
    efforts: tuple[PlannedEffort, ...]
    chosen: PlannedEffort | None
    queries_to_tell_apart: int | None
    error_model: Errors = Errors.NORMAL

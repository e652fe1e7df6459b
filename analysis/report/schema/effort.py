"""Time efficiency of a tool."""

from dataclasses import dataclass

from topkapi.analysis.efficiency import Course
from topkapi.analysis.report.schema.figures import Figure, Reason

Numbers = tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class NoEffort:
    """Stand-in for the effort of a tool without times."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean, median, quartiles and range of some values."""

    count: int
    mean: Figure
    median: Figure
    quartiles: Numbers
    range: Numbers


@dataclass(frozen=True, slots=True)
class AssessorTimes:
    """Quantiles .05, .25, .5, .75 and .95 of an assessor's seconds per judgment."""

    assessor: str
    quantiles: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """Time per judgment and per query, beside theory and the proven bound of the sorter."""

    sessions: int
    seconds_per_judgment: Spread
    wall_seconds_per_judgment: Spread
    judgments_per_query: Spread
    minutes_per_query: Spread
    wall_minutes_per_query: Spread
    complexity: str
    theory: Figure
    proven_bound: Figure
    sessions_over_bound: int
    taken_back: Figure
    factor_per_100_judgments: Figure
    course: Course
    assessors: tuple[AssessorTimes, ...]

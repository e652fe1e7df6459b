"""Types of figures, agreement, answers and effort in a report."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from topkapi.analysis.efficiency import Course

INLINE = {"inline": True}
"""Metadata of a field whose keys belong to the record around it."""

OPTIONAL = {"optional": True}
"""Metadata of a field that is left out of the JSON while it is None."""


def key(name: str) -> dict[str, str]:
    """Return metadata that stores a field under another key."""
    return {"key": name}


class Reason(StrEnum):
    """Reasons why a figure or its interval is missing, as the report prints them."""

    UNDEFINED = "undefined"
    NOTHING_SHARED = "no two assessors judged the same pair"
    ONE_CATEGORY = "every vote is the same, so chance explains all of it"
    NO_PREFERENCE = "on no pair did both assessors express a preference"
    ALL_TIED = "in every shared query one of the two tied everything or too few pairs are shared"
    NO_LISTS = "the source has no ranked lists, only single pairs"
    NOT_IDENTIFIED = "the shared judgments cannot tell this assessor's errors from the others'"
    NO_REPEATS = "no pair was asked twice"
    NO_SIDES = "the source does not say that sides were drawn at random"
    NO_ANSWERS = "no raw answers to pairs"
    NO_TRIPLES = "no three pages were all compared with each other"
    ONLY_TIES = "no answer that is not a tie"
    ONE_QUERY_OF_SIDES = "one query: nothing to turn around"
    NO_STATED_PREFERENCE = "this assessor expressed no preference"
    NOT_TIMED = "the source has no times"
    NOT_FINISHED = "no session is finished"
    NO_BOUND = "no bound is known for this tool or sorter"
    NO_TWO_TIMED = "no session has two timed answers"
    EMPTY_MARGIN = "one tool has no shared votes, or nobody agreed, or nobody disagreed"
    ONE_TOOL = "fewer than two tools have shared judgments"
    NOT_COMPARED = "it was not compared"
    NO_JUDGED_QUERY = "the run has none of the judged queries"
    ONE_QUERY = "one query: nothing to resample"
    FEW_QUERIES = "too few queries for an interval"
    NO_SPREAD = "all queries are alike, so they do not tell how far others may be"
    FEW_DEFINED = "undefined in more than half of the resamples"


class Interval(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, or None with the reason.

    Parameters
    ----------
    value
        The number; None where it is undefined.
    reason
        Why ``value`` is None.
    interval
        Interval of ``value``; None where none was computed or it is undefined.
    no_interval
        Why an interval that was asked for is undefined.
    """

    value: float | None
    reason: Reason | None = None
    interval: Interval | None = None
    no_interval: Reason | None = None


Counts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of a 3 x 3 table of votes, and the shares of its rows; an empty row has none."""

    counts: Counts
    shares: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement over all pairs of assessors who share queries."""

    matrix: Matrix
    matrix_both_orders: Matrix
    votes: int
    queries: int
    assessor_pairs: int
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    fleiss_kappa: Figure
    krippendorff_alpha: Figure
    gwet_ac1: Figure
    tau_b: Figure
    rbo: Figure


@dataclass(frozen=True, slots=True)
class PairRow:
    """Agreement of two assessors over the queries they share."""

    first: str
    second: str
    queries: int
    matrix: Matrix = field(metadata=INLINE)
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    krippendorff_alpha: Figure
    gwet_ac1: Figure
    tau_b: Figure
    rbo: Figure


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """Agreement of all assessors on one query."""

    query: str
    text: str
    assessors: int
    documents: int
    counts: Counts
    overall: Figure
    without_ties: Figure
    tau_b: Figure
    rbo: Figure


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """Share of repeated pairs with the same answer; ``counts`` cross-tabulates the answers."""

    figure: Figure = field(metadata=INLINE)
    asked: int
    counts: Counts | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class LeftShare:
    """Share of answers for the left page, with two tests against one half."""

    figure: Figure = field(metadata=INLINE)
    left: int | None = field(default=None, metadata=OPTIONAL)
    answers: int | None = field(default=None, metadata=OPTIONAL)
    p: Figure | None = field(default=None, metadata=OPTIONAL)
    p_queries: Figure | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class IntransitiveTriads:
    """Share of compared triples of pages whose answers fit no order.

    ``cycles`` counts the strict cycles among the ``broken`` triples.
    """

    figure: Figure = field(metadata=INLINE)
    broken: int | None = field(default=None, metadata=OPTIONAL)
    cycles: int | None = field(default=None, metadata=OPTIONAL)
    triples: int = 0


@dataclass(frozen=True, slots=True)
class ConsistencyThird:
    """Self-consistency in one third of the sessions."""

    part: str
    asked: int
    figure: Figure = field(metadata=INLINE)


@dataclass(frozen=True, slots=True)
class Answers:
    """Quality of the raw answers of a tool, and self-consistency over a session.

    ``given`` is False for a tool without raw answers.
    """

    self_consistency: SelfConsistency
    left: LeftShare
    triads: IntransitiveTriads = field(metadata=key("circles"))
    course: tuple[ConsistencyThird, ...]
    given: bool = field(metadata={"internal": True})


@dataclass(frozen=True, slots=True)
class Person:
    """One assessor: agreement with the rest, estimated error rate, quality of raw answers."""

    assessor: str
    shared_queries: int
    overall: Figure
    without_ties: Figure
    cohen_kappa: Figure
    error_rate: Figure
    self_consistency: SelfConsistency
    left: LeftShare
    triads: IntransitiveTriads = field(metadata=key("circles"))


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

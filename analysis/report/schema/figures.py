"""A figure: a number with its interval, or the reason why there is none."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


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

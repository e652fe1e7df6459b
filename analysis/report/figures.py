"""Figures of a report: numbers with intervals, never NaN, and how they are computed from sums."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.agreement import (
    PairTables,
    Resamples,
    agreement,
    agreement_matrix,
    both_orders,
    cohen_kappa,
    tau_b,
)
from topkapi.analysis.jackknife import Scale, jackknife
from topkapi.analysis.resampling import LEAST_QUERIES
from topkapi.analysis.typing import FloatArray, IntArray

INLINE = {"inline": True}
"""Metadata of a field whose keys belong to the record around it."""
OPTIONAL = {"optional": True}
"""Metadata of a field that is left out of the JSON while it is None."""
UNDEFINED = (np.nan, np.nan)
"""Ends of an interval that is undefined."""
LEAST_WIDTH = 1e-9  # of an interval: where all queries are alike, none can be computed from them
LEAST_PAIRS = 3  # page pairs, as of three pages: fewer are no ranking to correlate


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


Numbers = tuple[float | None, ...]


class Explanation(NamedTuple):
    """Title and text of the explanation of a figure."""

    title: str
    text: str


def number(value: ArrayLike) -> float | None:
    """Return a float that JSON can hold, None instead of NaN and infinity."""
    found = float(np.asarray(value))
    return found if np.isfinite(found) else None


def numbers(values: ArrayLike) -> tuple[float | None, ...]:
    """Return a tuple of numbers, None instead of NaN."""
    return tuple(number(value) for value in np.asarray(values))


def figure(
    value: ArrayLike,
    *,
    reason: Reason = Reason.UNDEFINED,
    ends: tuple[ArrayLike, ArrayLike] | None = None,
    no_interval: Reason = Reason.FEW_DEFINED,
    flat: bool = False,
) -> Figure:
    """Make a figure of a value and, where it has one, the ends of its interval.

    Parameters
    ----------
    value
        The number, NaN where it is undefined.
    reason
        Why the value is undefined, if it is.
    ends
        Low and high end, NaN where undefined; None where no interval is computed.
    no_interval
        Why the interval is undefined, if it is.
    flat
        Whether an interval of no width is shown, as of counts.
    """
    point = number(value)
    if point is None:
        return Figure(None, reason)
    if ends is None:
        return Figure(point)
    low, high = number(ends[0]), number(ends[1])
    if low is None or high is None:
        return Figure(point, no_interval=no_interval)
    if high - low < LEAST_WIDTH and not flat:
        return Figure(point, no_interval=Reason.NO_SPREAD)
    return Figure(point, interval=Interval(low, high))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of sums: how to compute it from (..., width), why it may be undefined.

    ``scale`` is ``share`` for figures of 0 to 1, ``coefficient`` for those of -1 to 1.
    """

    of: Callable[[FloatArray], FloatArray]
    reason: Reason
    scale: Scale = "coefficient"


def of_table(function: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    """Return a measure of sums (..., 9) from one of tables in both orders (..., 3, 3)."""
    return lambda sums: function(both_orders(sums.reshape((*sums.shape[:-1], 3, 3))))


OVERALL = Measure(of_table(agreement), Reason.NOTHING_SHARED, "share")


WITHOUT_TIES = Measure(of_table(lambda t: agreement(t, ties=False)), Reason.NO_PREFERENCE, "share")


COHEN_KAPPA = Measure(of_table(cohen_kappa), Reason.ONE_CATEGORY)


def measured(measure: Measure, sums: FloatArray, drawn: Resamples) -> Figure:
    """Return the figure of sums (n_queries, width) with its interval over queries."""
    whole = sums.sum(axis=0)
    ends = drawn.interval(sums, measure.of)
    reason = measure.reason if drawn.n_used else Reason.NOTHING_SHARED
    return figure(measure.of(whole), reason=reason, ends=ends, no_interval=why_none(drawn))


def why_none(drawn: Resamples, shared: int | None = None) -> Reason:
    """Return why an interval is missing; ``shared`` limits the queries that inform it."""
    used = drawn.n_used if shared is None else min(shared, drawn.n_used)
    if used < 2:
        return Reason.ONE_QUERY
    return Reason.FEW_QUERIES if used < LEAST_QUERIES else Reason.FEW_DEFINED


def group_figures(
    measure: Measure,
    query: IntArray,
    group: IntArray,
    values: FloatArray,
    n_groups: int,
    drawn: Resamples,
) -> list[Figure]:
    """Return the figure of every group of rows, with an interval over the group's queries."""
    found = jackknife(
        query, group, values, n_groups, measure.of, scale=measure.scale, level=drawn.level
    )
    columns = (column.tolist() for column in found)
    return [
        figure(
            value,
            reason=measure.reason if queries else Reason.NOTHING_SHARED,
            ends=(low, high),
            no_interval=why_none(drawn, queries),
        )
        for value, low, high, queries in zip(*columns, strict=True)
    ]


def matrix(counts: IntArray) -> Matrix:
    """Return the counts of a table with the shares of its rows."""
    shares = tuple(numbers(row) for row in agreement_matrix(counts))
    return Matrix(nested(counts), shares)


def nested(counts: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return a table of counts as tuples of whole numbers."""
    return tuple(tuple(row) for row in counts.tolist())


def supported_tau(tables: PairTables) -> FloatArray:
    """Return tau-b of every row of ``tables``, NaN where fewer than ``LEAST_PAIRS`` are shared."""
    shared = tables.counts.sum(axis=(1, 2))
    return np.where(shared >= LEAST_PAIRS, tau_b(tables.counts), np.nan)


def mean_sums(query: IntArray, values: FloatArray, n_queries: int) -> FloatArray:
    """Sum and number of the defined values of each query: (n_queries, 2)."""
    known = ~np.isnan(values)
    sums = np.bincount(query[known], values[known], n_queries)
    counts = np.bincount(query[known], minlength=n_queries)
    return np.stack([sums, counts], axis=1).astype(float)


def defined_columns(values: FloatArray) -> FloatArray:
    """Return each value and a 1, or two zeros where it is undefined: (r, 2)."""
    known = ~np.isnan(values)
    return np.stack([np.where(known, values, 0.0), known.astype(float)], axis=1)

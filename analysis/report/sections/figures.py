"""Figures of a report: numbers with intervals, never NaN."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.agreement import (
    Resamples,
    agreement,
    alpha_of_table,
    both_orders,
    cohen_kappa,
    gwet_ac1_of_table,
)
from topkapi.analysis.jackknife import Scale, jackknife
from topkapi.analysis.report.schema import Figure, Interval, Reason
from topkapi.analysis.resampling import LEAST_QUERIES
from topkapi.analysis.typing import FloatArray, IntArray

UNDEFINED = (np.nan, np.nan)
"""Ends of an interval that is undefined."""

LEAST_WIDTH = 1e-9  # of an interval: where all queries are alike, none can be computed from them


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
    found = number(value)
    if found is None:
        return Figure(None, reason)
    if ends is None:
        return Figure(found)
    low, high = number(ends[0]), number(ends[1])
    if low is None or high is None:
        return Figure(found, no_interval=no_interval)
    if high - low < LEAST_WIDTH and not flat:
        return Figure(found, no_interval=Reason.NO_SPREAD)
    return Figure(found, interval=Interval(low, high))


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of sums: how to compute it from (..., width), why it may be undefined.

    ``scale`` is ``share`` for figures of 0 to 1, ``coefficient`` for those of -1 to 1.
    """

    of: Callable[[FloatArray], FloatArray]
    reason: Reason
    scale: Scale = "coefficient"


def _of_table(function: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    return lambda sums: function(both_orders(sums.reshape((*sums.shape[:-1], 3, 3))))


OVERALL = Measure(_of_table(agreement), Reason.NOTHING_SHARED, "share")
WITHOUT_TIES = Measure(_of_table(lambda t: agreement(t, ties=False)), Reason.NO_PREFERENCE, "share")
COHEN_KAPPA = Measure(_of_table(cohen_kappa), Reason.ONE_CATEGORY)
ALPHA = Measure(_of_table(alpha_of_table), Reason.ONE_CATEGORY)
GWET_AC1 = Measure(_of_table(gwet_ac1_of_table), Reason.ONE_CATEGORY)


def measured(measure: Measure, sums: FloatArray, drawn: Resamples) -> Figure:
    """Return the figure of sums (n_queries, width) with its interval over queries."""
    whole = sums.sum(axis=0)
    ends = drawn.interval(sums, measure.of)
    reason = measure.reason if whole.any() else Reason.NOTHING_SHARED
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

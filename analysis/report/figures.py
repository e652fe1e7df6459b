"""Figures of a report: a number, or nothing and the reason; never NaN."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from analysis.agreement import Resamples, agreement, alpha_of_table, cohen_kappa, gwet_ac1_of_table
from analysis.typing import FloatArray

Json: TypeAlias = dict[str, Any]

NOTHING_SHARED = "no two assessors judged the same pair"
ONE_CATEGORY = "every vote is the same, so chance explains all of it"
NO_PREFERENCE = "on no pair did both assessors express a preference"
ONE_QUERY = "one query: nothing to resample"
FEW_DEFINED = "undefined in more than half of the resamples"


def number(value: ArrayLike) -> float | None:
    """A float that JSON can hold: None in place of NaN and infinity."""
    found = float(np.asarray(value))
    return found if np.isfinite(found) else None


def numbers(values: ArrayLike) -> list[Any]:
    """Nested lists of numbers, None in place of NaN."""
    array = np.asarray(values)
    return [numbers(row) if row.ndim else number(row) for row in array]


def figure(
    value: ArrayLike,
    *,
    reason: str = "",
    ends: tuple[ArrayLike, ArrayLike] | None = None,
    no_interval: str = "",
) -> Json:
    """``{"value": ...}``, with ``low`` and ``high`` if it has an interval, else with reasons."""
    found = number(value)
    if found is None:
        return {"value": None, "reason": reason or "undefined"}
    if ends is None:
        return {"value": found}
    low, high = number(ends[0]), number(ends[1])
    if low is None or high is None:
        return {"value": found, "low": None, "high": None, "no_interval": no_interval}
    return {"value": found, "low": low, "high": high}


@dataclass(frozen=True, slots=True)
class Measure:
    """A named figure of sums: how to compute it from (..., width), why it may be undefined."""

    name: str
    of: Callable[[FloatArray], FloatArray]
    reason: str


def _of_table(function: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    return lambda sums: function(sums.reshape((*sums.shape[:-1], 3, 3)))


TABLE_MEASURES = (
    Measure("overall", _of_table(agreement), NOTHING_SHARED),
    Measure("without_ties", _of_table(lambda t: agreement(t, ties=False)), NO_PREFERENCE),
    Measure("cohen_kappa", _of_table(cohen_kappa), ONE_CATEGORY),
)
PAIR_MEASURES = (
    *TABLE_MEASURES,
    Measure("krippendorff_alpha", _of_table(alpha_of_table), ONE_CATEGORY),
    Measure("gwet_ac1", _of_table(gwet_ac1_of_table), ONE_CATEGORY),
)


def measured(measure: Measure, sums: FloatArray, drawn: Resamples) -> Json:
    """The figure of sums (n_queries, width) with its interval over queries."""
    whole = sums.sum(axis=0)
    ends = drawn.interval(sums, measure.of)
    reason = measure.reason if whole.any() else NOTHING_SHARED
    return figure(measure.of(whole), reason=reason, ends=ends, no_interval=why_none(drawn))


def why_none(drawn: Resamples, shared: int | None = None) -> str:
    """Why an interval is missing; ``shared`` queries alone inform it, if told."""
    used = drawn.n_used if shared is None else min(shared, drawn.n_used)
    return ONE_QUERY if used < 2 else FEW_DEFINED

"""Intervals of many groups at once, leaving out one query at a time.

A group, such as an assessor or a pair of assessors, shares few queries, so a bootstrap over the
queries of the study is too narrow for it. The delete-one jackknife over the group's own queries
with Student's t is not, and its memory grows with the rows alone.
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np

from topkapi.analysis.lazy import stats
from topkapi.analysis.resampling import LEAST_QUERIES
from topkapi.analysis.typing import FloatArray, IntArray

Scale = Literal["share", "coefficient"]


class GroupFigures(NamedTuple):
    """A figure of every group, the ends of its interval, and its number of queries, (g,) each."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    queries: IntArray


def jackknife(
    query: IntArray,
    group: IntArray,
    values: FloatArray,
    n_groups: int,
    figure: Callable[[FloatArray], FloatArray],
    *,
    scale: Scale,
    level: float = 0.95,
) -> GroupFigures:
    """Compute a figure of the sums of every group, with an interval over the group's queries.

    Parameters
    ----------
    query, group
        Query and group of each row, (r,).
    values
        Values (r, width) that are summed.
    n_groups
        Number of groups.
    figure
        Function from sums (..., width) to figures (...).
    scale
        ``share``: of 0 to 1, by Wilson's interval with the effective number of votes.
        ``coefficient``: of -1 to 1, by Fisher's z.
    level
        Level of the intervals.

    Returns
    -------
    GroupFigures
        Ends are NaN under ``LEAST_QUERIES`` queries, and where leaving out a query leaves the
        figure undefined.

    Examples
    --------
    >>> votes = np.array([[3.0, 4], [4, 4], [4, 4], [2, 4], [4, 4], [3, 4]])
    >>> found = jackknife(np.arange(6), np.zeros(6, int), votes, 1,
    ...     lambda sums: sums[..., 0] / sums[..., 1], scale="share")
    >>> [round(float(each[0]), 3) for each in found[:3]]
    [0.833, 0.547, 0.954]
    """
    n_queries = int(query.max(initial=0)) + 1
    cells, cell = np.unique(group * n_queries + query, return_inverse=True)
    owner = cells // n_queries
    sums = _summed(cell, values, cells.size)
    total = _summed(owner, sums, n_groups)
    queries = np.bincount(owner, minlength=n_groups)
    value = figure(total)
    without = figure(total[owner] - sums)
    variance = _variance(owner, without, queries)
    variance[queries < LEAST_QUERIES] = np.nan
    distance: FloatArray = np.asarray(stats.t.ppf((1 + level) / 2, np.maximum(queries - 1, 1)))
    ends = _wilson if scale == "share" else _fisher
    return GroupFigures(value, *ends(value, variance, queries, distance), queries)


def _summed(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    columns = [np.bincount(index, column, size) for column in values.T]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


def _variance(owner: IntArray, without: FloatArray, queries: IntArray) -> FloatArray:
    """Compute the jackknife's variance (g,)."""
    size = queries.size
    n = np.maximum(queries, 1)
    mean = np.bincount(owner, without, size) / n
    squares = np.bincount(owner, (without - mean[owner]) ** 2, size)
    variance: FloatArray = squares * (n - 1) / n
    return variance


def _wilson(
    value: FloatArray, variance: FloatArray, queries: IntArray, distance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's interval for the number of independent votes that has this variance.

    Where all queries are alike the number is that of the queries.
    """
    binomial = value * (1 - value)
    size = np.divide(binomial, variance, out=queries.astype(float), where=variance > 1e-12)
    size = np.where(np.isnan(variance), np.nan, np.maximum(size, 1e-9))
    shift = distance**2 / size
    centre = (value + shift / 2) / (1 + shift)
    half = np.sqrt(np.maximum(binomial, 0) * shift + shift**2 / 4) / (1 + shift)
    return centre - half, centre + half


def _fisher(
    value: FloatArray, variance: FloatArray, _queries: IntArray, distance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the interval on the scale of Fisher's z; none where nothing varies."""
    inside = (np.abs(value) < 1) & (variance > 1e-12)
    z = np.arctanh(np.where(inside, value, 0.0))
    error = np.sqrt(np.where(inside, variance, np.nan)) / (1 - np.where(inside, value, 0.0) ** 2)
    return np.tanh(z - distance * error), np.tanh(z + distance * error)

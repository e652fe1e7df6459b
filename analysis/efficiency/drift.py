"""How time per judgment changes in the course of a session."""

from dataclasses import dataclass

import numpy as np

from analysis.agreement.ratios import ratio
from analysis.efficiency.table import resampled_medians
from analysis.efficiency.timings import Sessions, Timings
from analysis.resampling import Resamples
from analysis.typing import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Course:
    """Median seconds by judgments so far: steps ``start`` (b,), medians and interval (b,)."""

    start: IntArray
    median: FloatArray
    low: FloatArray
    high: FloatArray
    count: IntArray


def course(timings: Timings, sessions: Sessions, drawn: Resamples, *, steps: int = 15) -> Course:
    """Cut the sessions into equal steps of judgments and take the median of each."""
    said = timings.take(timings.effective)
    longest = int(said.position.max(initial=0)) + 1
    width = max(1, -(-longest // steps))
    step = said.position // width
    found = [_step(said.take(step == s), sessions, drawn) for s in np.unique(step)]
    median, low, high, count = np.array(found, dtype=float).reshape(-1, 4).T
    return Course(np.unique(step) * width, median, low, high, count.astype(np.int64))


def _step(said: Timings, sessions: Sessions, drawn: Resamples) -> tuple[float, ...]:
    query = sessions.query[said.session]
    low, high = drawn.ends(resampled_medians(said.active, query, drawn.weights))
    return float(np.median(said.active)), float(low), float(high), float(said.active.size)


def drift(timings: Timings, sessions: Sessions, drawn: Resamples) -> tuple[float, float, float]:
    """Estimate the factor by which time per judgment changes over 100 judgments, with interval.

    Least squares of log seconds on the position, a level of its own for each session: below 1
    people get faster. NaN where no session has two timed answers.
    """
    said = timings.take(timings.effective & (timings.active > 0))
    size = np.maximum(np.bincount(said.session, minlength=len(sessions)), 1)
    x = said.position / 100.0
    y = np.log(said.active)
    x = x - (np.bincount(said.session, x, len(sessions)) / size)[said.session]
    y = y - (np.bincount(said.session, y, len(sessions)) / size)[said.session]
    query, n = sessions.query[said.session], drawn.weights.shape[1]
    sums = np.stack([np.bincount(query, x * y, n), np.bincount(query, x * x, n)], axis=1) * 1.0
    low, high = drawn.interval(sums, _factor)
    return float(_factor(sums.sum(axis=0))), float(low), float(high)


def _factor(sums: FloatArray) -> FloatArray:
    factor: FloatArray = np.exp(ratio(sums[..., 0], sums[..., 1]))
    return factor


def by_assessor(timings: Timings, sessions: Sessions) -> dict[int, FloatArray]:
    """Return quantiles .05, .25, .5, .75, .95 of each assessor's seconds per effective judgment."""
    said = timings.take(timings.effective)
    who = sessions.assessor[said.session]
    order = np.argsort(who, kind="stable")
    present, starts = np.unique(who[order], return_index=True)
    parts = np.split(said.active[order], starts[1:]) if present.size else []
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    return {int(a): np.quantile(part, shares) for a, part in zip(present, parts, strict=True)}

"""Change of time per judgment over a session."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.efficiency.table import resampled_medians
from topkapi.analysis.efficiency.timings import Sessions, Timings
from topkapi.analysis.resampling import Resamples
from topkapi.analysis.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Course:
    """Median seconds per judgment by judgments so far.

    Attributes
    ----------
    start
        First judgment of each step.
    median, low, high
        Median and its interval; None where the interval is unknown.
    count
        Number of answers.
    """

    start: tuple[float, ...]
    median: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    count: tuple[float, ...]


def course(timings: Timings, sessions: Sessions, drawn: Resamples, *, steps: int = 15) -> Course:
    """Cut the sessions into equal steps of judgments and take the median of each.

    Parameters
    ----------
    timings, sessions
        Times of one tool.
    drawn
        Resamples of queries.
    steps
        Largest number of steps.
    """
    kept = timings.take(timings.effective)
    longest = int(kept.position.max(initial=0)) + 1
    width = max(1, -(-longest // steps))
    step = kept.position // width
    found = [_step(kept.take(step == s), sessions, drawn) for s in np.unique(step)]
    median, low, high, count = np.array(found, dtype=float).reshape(-1, 4).T
    return Course(
        start=tuple(map(float, np.unique(step) * width)),
        median=tuple(median.tolist()),
        low=_known(low),
        high=_known(high),
        count=tuple(count.tolist()),
    )


def _known(values: FloatArray) -> tuple[float | None, ...]:
    return tuple(None if np.isnan(value) else float(value) for value in values)


def _step(kept: Timings, sessions: Sessions, drawn: Resamples) -> tuple[float, ...]:
    query = sessions.query[kept.session]
    low, high = drawn.ends(resampled_medians(kept.active, query, drawn.weights))
    return float(np.median(kept.active)), float(low), float(high), float(kept.active.size)


def drift(timings: Timings, sessions: Sessions, drawn: Resamples) -> tuple[float, float, float]:
    """Estimate the factor by which time per judgment changes over 100 judgments, with interval.

    Least squares of log seconds on the position, with an intercept per session: below 1 people get
    faster.

    Parameters
    ----------
    timings, sessions
        Times of one tool.
    drawn
        Resamples of queries.

    Returns
    -------
    tuple[float, float, float]
        Factor, low and high; NaN where no session has two timed answers.
    """
    kept = timings.take(timings.effective & (timings.active > 0))
    size = np.maximum(np.bincount(kept.session, minlength=len(sessions)), 1)
    x = kept.position / 100.0
    y = np.log(kept.active)
    x = x - (np.bincount(kept.session, x, len(sessions)) / size)[kept.session]
    y = y - (np.bincount(kept.session, y, len(sessions)) / size)[kept.session]
    query, n = sessions.query[kept.session], drawn.weights.shape[1]
    sums = np.stack([np.bincount(query, x * y, n), np.bincount(query, x * x, n)], axis=1) * 1.0
    low, high = drawn.interval(sums, _factor)
    return float(_factor(sums.sum(axis=0))), float(low), float(high)


def _factor(sums: FloatArray) -> FloatArray:
    return np.exp(ratio(sums[..., 0], sums[..., 1]))


def by_assessor(timings: Timings, sessions: Sessions) -> dict[int, FloatArray]:
    """Return quantiles .05, .25, .5, .75, .95 of each assessor's seconds per effective judgment.

    Parameters
    ----------
    timings, sessions
        Times of one tool.
    """
    kept = timings.take(timings.effective)
    who = sessions.assessor[kept.session]
    order = np.argsort(who, kind="stable")
    present, starts = np.unique(who[order], return_index=True)
    parts = np.split(kept.active[order], starts[1:]) if present.size else []
    shares = [0.05, 0.25, 0.5, 0.75, 0.95]
    return {int(a): np.quantile(part, shares) for a, part in zip(present, parts, strict=True)}

"""Table 1 of [NGLC12]_: time per judgment, judgments per query, time per query."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.efficiency.timings import Sessions, Timings
from topkapi.analysis.resampling import Resamples
from topkapi.analysis.typing import FloatArray, IntArray

MOST_LEVELS = 1024  # steps of a resampled median: its resolution is a 1024th of the values
MOST_CELLS = 4_000_000  # of the table queries x levels


@dataclass(frozen=True, slots=True)
class MeasuredSpread:
    """Mean, median and quartiles, with intervals over queries."""

    count: int
    mean: float
    mean_low: float
    mean_high: float
    median: float
    median_low: float
    median_high: float
    lower: float
    upper: float
    least: float
    most: float


def spread(values: FloatArray, query: IntArray, drawn: Resamples) -> MeasuredSpread:
    """Describe values that belong to queries, with intervals over resampled queries.

    Parameters
    ----------
    values
        Values (n,).
    query
        Query of each value, (n,).
    drawn
        Resamples of queries.

    Examples
    --------
    >>> from topkapi.analysis.agreement import resamples
    >>> found = spread(np.array([1.0, 3, 8]), np.array([0, 0, 1]), resamples(np.ones(2), draws=99))
    >>> found.mean, found.median
    (4.0, 3.0)
    """
    if not values.size:
        return MeasuredSpread(0, *[np.nan] * 10)
    n_queries = drawn.weights.shape[1]
    sums = np.stack([_by(query, values, n_queries), _by(query, None, n_queries)], axis=1)
    mean_low, mean_high = drawn.interval(sums, lambda drawn: ratio(drawn[:, 0], drawn[:, 1]))
    median_low, median_high = drawn.ends(resampled_medians(values, query, drawn.weights))
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    ends = (mean_low, mean_high, middle, median_low, median_high, low, high)
    figures = (float(x) for x in (values.mean(), *ends, values.min(), values.max()))
    return MeasuredSpread(values.size, *figures)


def _by(query: IntArray, values: FloatArray | None, n_queries: int) -> FloatArray:
    return np.bincount(query, weights=values, minlength=n_queries).astype(float)


def resampled_medians(values: FloatArray, query: IntArray, weights: FloatArray) -> FloatArray:
    """Compute lower medians (draws,) when each query counts as often as drawn.

    Values are counted by query and level first, so a resample costs no sort.

    Parameters
    ----------
    values
        Values (n,).
    query
        Query of each value, (n,).
    weights
        Weight of each query in each resample, (draws, n_queries).

    Returns
    -------
    FloatArray
        Medians (draws,); NaN of an empty draw.
    """
    n_queries = weights.shape[1]
    most = int(np.clip(MOST_CELLS // max(n_queries, 1), 64, MOST_LEVELS))
    levels = np.unique(values)
    if levels.size > most:
        levels = np.unique(np.quantile(values, np.linspace(0, 1, most), method="higher"))
    level = np.searchsorted(levels, values)
    cells = np.bincount(query * levels.size + level, minlength=n_queries * levels.size)
    table = cells.reshape(n_queries, -1).astype(np.float32)  # exact below 2^24 values per level
    counts = np.cumsum(weights.astype(np.float32) @ table, axis=1, dtype=float)
    middle = np.argmax(counts >= counts[:, -1:] / 2 * (1 - 1e-5), axis=1)  # weights are rounded
    return np.where(counts[:, -1] > 0, levels[middle], np.nan)


@dataclass(frozen=True, slots=True)
class MeasuredEffort:
    """Seconds per judgment, judgments and minutes per query of one tool; active and wall time.

    Attributes
    ----------
    sessions
        Finished sessions.
    seconds, wall_seconds
        Seconds per judgment.
    judgments
        Judgments per query.
    minutes, wall_minutes
        Minutes per query.
    theory
        Mean of n log2 k (n where there is no k).
    bound
        Mean of the sorters' proven bounds.
    over_bound
        Sessions that needed more than their bound.
    taken_back
        Share of answers undone.
    """

    sessions: int
    seconds: MeasuredSpread
    wall_seconds: MeasuredSpread
    judgments: MeasuredSpread
    minutes: MeasuredSpread
    wall_minutes: MeasuredSpread
    theory: float
    bound: float
    over_bound: int
    taken_back: float


def effort(
    timings: Timings, sessions: Sessions, drawn: Resamples, drawn_done: Resamples | None = None
) -> MeasuredEffort:
    """Summarise the effort of one tool.

    Judgments and minutes per query are of finished sessions, seconds of all effective answers.
    Judgments count effective answers; time per query includes undone ones.

    Parameters
    ----------
    timings, sessions
        Times of one tool.
    drawn
        Resamples of queries.
    drawn_done
        Resamples of the queries with a finished session; ``drawn`` if all are.
    """
    done = np.flatnonzero(sessions.finished)
    kept = timings.take(timings.effective)
    of_answer = sessions.query[kept.session]
    answers = _by(kept.session, None, len(sessions))[done]
    active = _by(timings.session, timings.active, len(sessions))[done] / 60
    wall = _by(timings.session, timings.wall, len(sessions))[done] / 60
    query = sessions.query[done]
    bounds = sessions.bound[done]
    known = bounds[~np.isnan(bounds)]
    drawn_done = drawn_done or drawn
    return MeasuredEffort(
        sessions=done.size,
        seconds=spread(kept.active, of_answer, drawn),
        wall_seconds=spread(kept.wall, of_answer, drawn),
        judgments=spread(answers, query, drawn_done),
        minutes=spread(active, query, drawn_done),
        wall_minutes=spread(wall, query, drawn_done),
        theory=float(_theory(sessions)[done].mean()) if done.size else np.nan,
        bound=float(known.mean()) if known.size else np.nan,
        over_bound=int((answers > bounds).sum()),
        taken_back=float(ratio(timings.effective.size - kept.effective.size, timings.session.size)),
    )


def _theory(sessions: Sessions) -> FloatArray:
    """Return n log2 k of a top-k session ([NGLC12]_, section 2.2), n of a graded one."""
    k = np.minimum(sessions.k, sessions.n)
    steps: FloatArray = np.where(k > 1, np.log2(np.maximum(k, 2)), 1.0)
    return sessions.n.astype(float) * steps

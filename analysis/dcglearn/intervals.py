"""Bootstrap intervals of learned gains and discounts."""

from dataclasses import dataclass

import numpy as np

from topkapi.analysis.dcglearn.gains import Gains
from topkapi.analysis.dcglearn.learner import DCGLearn
from topkapi.analysis.dcglearn.preferences import ListPreferences
from topkapi.analysis.errors import BadData
from topkapi.analysis.resampling import percentiles, resampled_rows
from topkapi.analysis.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Intervals:
    """Bounds (2, L) of gains and (2, K) of discounts, low then high; ``runs`` that could be fit.

    Gains are shares of the best grade's gain, so that they can be compared between runs.
    """

    gains: FloatArray
    discounts: FloatArray
    runs: int


def bootstrap_intervals(
    model: DCGLearn,
    preferences: ListPreferences,
    *,
    runs: int = 200,
    level: float = 0.9,
    seed: int = 0,
    groups: IntArray | None = None,
) -> Intervals:
    """Compute percentile intervals from resampled pairs, or resampled groups (queries) of them.

    ``model`` gives the settings. Resamples in which nothing can be learned are left out.
    """
    names = np.arange(len(preferences)) if groups is None else groups
    gains: list[Gains] = []
    for rows in resampled_rows(names, runs, seed):
        fresh = DCGLearn(c=model.c, c_ties=model.c_ties, penalty=model.penalty)
        try:
            gains.append(fresh.fit(preferences.select(rows)).gains_)
        except BadData:
            continue
    if not gains:
        raise BadData("no resample of the preferences has anything to learn")
    tail = (1.0 - level) / 2
    return Intervals(
        percentiles([shares_of_best(each) for each in gains], tail),
        percentiles([each.discounts for each in gains], tail),
        len(gains),
    )


def shares_of_best(gains: Gains) -> FloatArray:
    """Scale gains to 0 for the worst grade and 1 for the best, (L,).

    >>> shares_of_best(Gains(np.array([1.0, 2.0, 5.0]), np.ones(1)))
    array([0.  , 0.25, 1.  ])
    """
    rise = gains.gains - gains.gains[0]
    shares: FloatArray = rise / rise[-1] if rise[-1] > 0 else rise
    return shares

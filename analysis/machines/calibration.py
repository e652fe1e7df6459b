"""Calibration of stated confidence: how often do replies of confidence c agree with people?

A reply agrees with people by the share of them who gave the same answer. The expected calibration
error [NCH15]_ is the mean distance of stated confidence and agreement over bins of confidence,
weighted by their replies. Intervals leave out one query at a time, as replies about one query
depend on each other. That of the error begins at 0 if chance explains the distance in every bin:
an error is never negative, so a machine without one has a small error in every sample.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from topkapi.analysis.agreement.tables import ratio
from topkapi.analysis.errors import BadData
from topkapi.analysis.jackknife import jackknife
from topkapi.analysis.resampling import known_ends
from topkapi.analysis.typing import FloatArray, IntArray

EDGES = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Replies whose stated confidence is from ``low`` up to ``high``; means of both figures."""

    low: float
    high: float
    replies: int
    confidence: float
    agreement: float
    agreement_ends: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Calibration:
    """Stated confidence beside agreement with people.

    Attributes
    ----------
    replies, queries
        Replies with a confidence that somebody can be compared with, and their queries.
    confidence, agreement
        Their means.
    error, error_ends
        Expected calibration error and its interval; None with fewer than five queries.
    bins
        Bins that have replies.
    """

    replies: int
    queries: int
    confidence: float
    agreement: float
    error: float
    error_ends: tuple[float, float] | None
    bins: tuple[ConfidenceBin, ...]


def calibration(query: IntArray, confidence: ArrayLike, agreement: ArrayLike) -> Calibration:
    """Compare stated confidence with agreement.

    Parameters
    ----------
    query
        Query of each reply, (n,).
    confidence, agreement
        Stated confidence and share of people who agree, 0 to 1, (n,) each.

    Raises
    ------
    BadData
        If there is no reply, or a value is not between 0 and 1.

    Examples
    --------
    >>> found = calibration(np.arange(20) % 5, [0.9] * 10 + [0.6] * 10, [1.0] * 8 + [0.0] * 12)
    >>> found.error, [(each.confidence, each.agreement) for each in found.bins]
    (0.35, [(0.6, 0.0), (0.9, 0.8)])
    """
    stated, agreed = (np.asarray(each, dtype=float) for each in (confidence, agreement))
    both = np.stack([stated, agreed])
    if not stated.size or not ((both >= 0) & (both <= 1)).all():
        raise BadData("confidence and agreement are needed, each between 0 and 1")
    query = np.unique(query, return_inverse=True)[1]
    at = np.searchsorted(EDGES[1:-1], stated, side="right")
    size = len(EDGES) - 1
    rows = np.zeros((stated.size, 3, size))
    rows[np.arange(stated.size), :, at] = np.stack([np.ones(stated.size), *both], axis=1)
    flat = rows.reshape(stated.size, -1)
    number, sure, _ = rows.sum(axis=0)
    used = np.flatnonzero(number)
    whole = jackknife(query, np.zeros_like(query), flat, 1, _error, scale="share")
    by_bin = query, at, rows.sum(axis=2), size, _agreement
    shares = jackknife(*by_bin, scale="share")
    wide = jackknife(*by_bin, scale="share", level=1 - 0.05 / used.size)  # all of them at once
    mean = ratio(sure, number)[used]
    chance = ~((wide.low[used] > mean) | (wide.high[used] < mean)).any()
    ends = known_ends(shares.low, shares.high)
    bins = [
        ConfidenceBin(
            low=EDGES[i],
            high=EDGES[i + 1],
            replies=int(number[i]),
            confidence=float(sure[i] / number[i]),
            agreement=float(shares.value[i]),
            agreement_ends=ends[i],
        )
        for i in used
    ]
    return Calibration(
        replies=stated.size,
        queries=int(whole.queries[0]),
        confidence=float(stated.mean()),
        agreement=float(agreed.mean()),
        error=float(whole.value[0]),
        error_ends=known_ends(whole.low * (not chance), whole.high)[0],
        bins=tuple(bins),
    )


def _error(sums: FloatArray) -> FloatArray:
    """Return the error of sums (..., 3 bins): replies, confidence and agreement of each bin."""
    number, stated, agreed = np.moveaxis(sums.reshape(*sums.shape[:-1], 3, -1), -2, 0)
    return ratio(np.abs(stated - agreed).sum(axis=-1), number.sum(axis=-1))


def _agreement(sums: FloatArray) -> FloatArray:
    return ratio(sums[..., 2], sums[..., 0])

"""How many pages an assessor is expected to give each label: severity apart from noise.

On the scale of normal quantiles, the border between two labels is that of the query plus a shift of
the assessor. The shifts are shrunk to zero by what the noise of single lists explains of them.
"""

from collections.abc import Sequence

import numpy as np

from topkapi.analysis.agreement.preferences import Scores
from topkapi.analysis.lazy import stats
from topkapi.analysis.typing import FloatArray, IntArray

MOST_LABELS = 200  # of a scale that all queries share


def label_shares(scores: Sequence[Scores]) -> list[FloatArray]:
    """Return the expected share of pages below every label but the lowest.

    Parameters
    ----------
    scores
        Labels of each query, of at least one assessor.

    Returns
    -------
    list of FloatArray
        For each query an array (assessors, labels - 1).
    """
    borders = _borders(np.concatenate([each.values.ravel() for each in scores]))
    if borders.size > MOST_LABELS:  # not a scale: the lists of a query share only their own labels
        below = [_below(each.values, _borders(each.values)) for each in scores]
        return [np.broadcast_to(each.mean(axis=0), each.shape) for each in below]
    below = [_below(each.values, borders) for each in scores]
    of_query = [stats.norm.ppf(each.mean(axis=0)) for each in below]
    apart = np.concatenate([stats.norm.ppf(b) - q for b, q in zip(below, of_query, strict=True)])
    who = np.concatenate([each.assessors for each in scores])
    shift = _shrunk_means(apart, who)
    return [
        stats.norm.cdf(border + shift[each.assessors])
        for border, each in zip(of_query, scores, strict=True)
    ]


def are_counts_fixed(scores: Sequence[Scores]) -> bool:
    """Return whether the assessors of most queries give every label equally often, as in lists."""
    fixed = [bool((np.sort(each.values) == np.sort(each.values[:1])).all()) for each in scores]
    return 2 * sum(fixed) > len(fixed)


def _borders(values: FloatArray) -> FloatArray:
    """Return every label but the lowest."""
    return np.unique(values[~np.isnan(values)])[1:]


def _below(values: FloatArray, borders: FloatArray) -> FloatArray:
    """Return the share of each row's labels below each border, at least half a page off 0 and 1."""
    judged = (~np.isnan(values)).sum(axis=1)
    counts = np.stack([np.searchsorted(np.sort(row), borders) for row in values])
    least = 0.5 / np.maximum(judged, 1)[:, None]
    shares: FloatArray = np.clip(counts / np.maximum(judged, 1)[:, None], least, 1 - least)
    return shares


def _shrunk_means(apart: FloatArray, who: IntArray) -> FloatArray:
    """Return the mean of every assessor's rows, shrunk by the variance between assessors."""
    n = np.bincount(who).astype(float)
    means = np.zeros((n.size, apart.shape[1]))
    np.add.at(means, who, apart)
    means /= np.maximum(n, 1)[:, None]
    freedom = max(1.0, float(np.maximum(n - 1, 0).sum()))
    within = ((apart - means[who]) ** 2).sum(axis=0) / freedom
    present = n > 0
    noise = within / np.maximum(n, 1)[:, None]
    between = np.maximum(0.0, (means[present] ** 2 - noise[present]).mean(axis=0))
    kept = np.divide(between, between + noise, out=np.zeros_like(means), where=noise + between > 0)
    shrunk: FloatArray = kept * means
    return shrunk

r"""Expected reciprocal rank, kappa-ERR and reciprocal rank.

.. math:: \sum_{s} \tfrac1s R(y_s) \prod_{t<s} (1 - R(y_t)), \quad R(y) = (2^y - 1) / 2^{y_{max}}

[NGLC12]_ print 1/n for 1/s in equation (3); that sum telescopes to the same value for every order,
so 1/s of [CMZG09]_ is used. With R of 1 for relevant documents it is the reciprocal rank of the
first of them.
"""

from itertools import pairwise

import numpy as np

from topkapi.analysis.metrics.dcg import scaled_gains
from topkapi.analysis.metrics.query_batch import QueryBatch
from topkapi.analysis.typing import FloatArray


def err(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute ERR with the highest label of the whole data as y_max, (b,)."""
    top = np.full(batch.labels.shape[0], batch.top_grade)
    return _err(batch, k, top, expected=expected)


def kappa_err(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute kappa-ERR ([NGLC12]_, equation (3)), (b,).

    y_max is the query's own best label, k.
    """
    return _err(batch, k, batch.labels.max(axis=1), expected=expected)


def reciprocal_rank(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute 1 / rank of the first document with a label above 0, (b,).

    It is 0 if there is none among the first k.
    """
    hits = (_labels(batch, k, expected=expected) > 0).astype(float)
    return _stopping(batch, k, hits, expected=expected)


def _err(batch: QueryBatch, k: int | None, top: FloatArray, *, expected: bool) -> FloatArray:
    stop = scaled_gains(_labels(batch, k, expected=expected), top)
    return _stopping(batch, k, stop, expected=expected)


def _labels(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    return batch.ranked(batch.width if k is None or expected else min(k, batch.width))


def _stopping(batch: QueryBatch, k: int | None, stop: FloatArray, *, expected: bool) -> FloatArray:
    """Return the mean of 1 / rank at which a reader stops, who does so with ``stop`` (b, depth)."""
    walked = _mean_products(batch, 1.0 - stop) if expected else np.cumprod(1.0 - stop, axis=1)
    reached = np.concatenate([np.ones((stop.shape[0], 1)), walked[:, :-1]], axis=1)
    gained = (reached - walked) / np.arange(1, stop.shape[1] + 1)
    values: FloatArray = gained[:, :k].sum(axis=1)
    return values


def _mean_products(batch: QueryBatch, passing: FloatArray) -> FloatArray:
    """Return the expected product of the first j factors over orders of tied documents, (b, w).

    Within a group the mean over all i-subsets of m factors follows from m - 1 factors:
    M(i, m) = (1 - i/m) M(i, m-1) + (i/m) a_m M(i-1, m-1).
    """
    result = np.cumprod(passing, axis=1)
    for query in range(passing.shape[0]):
        groups = batch.tie_groups[query]
        borders = np.flatnonzero(np.diff(groups, prepend=groups[0] - 1, append=groups[-1] + 1))
        reached = 1.0
        for start, stop in pairwise(borders):
            means = _subset_means(passing[query, start:stop])
            result[query, start:stop] = reached * means
            reached *= means[-1]
    return result


def _subset_means(factors: FloatArray) -> FloatArray:
    means = np.zeros(factors.size + 1)
    means[0] = 1.0
    for m, factor in enumerate(factors, start=1):
        share = np.arange(1, m + 1) / m
        means[1 : m + 1] = (1.0 - share) * means[1 : m + 1] + share * factor * means[:m]
    return means[1:]

"""Precision, recall, rank-biased precision, average precision: relevant is a label above 0."""

import numpy as np

from topkapi.analysis.metrics.query_batch import QueryBatch, divided
from topkapi.analysis.typing import FloatArray


def precision(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute the share of relevant documents among the first k, (b,).

    It is divided by k also where a query has fewer documents; without ``k`` by the number of
    retrieved documents.
    """
    hits = _hits(batch, k, expected=expected)
    if k is None:
        return divided(hits.sum(axis=1), batch.retrieved.sum(axis=1).astype(float))
    values: FloatArray = hits.sum(axis=1) / k
    return values


def recall(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute the share of the relevant documents that are among the first k, (b,).

    It is 0 where nothing is relevant.
    """
    total = (batch.labels > 0).sum(axis=1).astype(float)
    return divided(_hits(batch, k, expected=expected).sum(axis=1), total)


def rank_biased(
    batch: QueryBatch, k: int | None, *, expected: bool, persistence: float
) -> FloatArray:
    """Compute rank-biased precision ([MZ08]_, equation (2)), cut at k, (b,)."""
    hits = _hits(batch, k, expected=expected)
    weights = (1 - persistence) * persistence ** np.arange(hits.shape[1])
    return hits @ weights


def _hits(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Return whether a document is relevant, or its expected share, at the first k ranks."""
    if expected:
        return batch.tie_means((batch.ranked(batch.width) > 0).astype(float))[:, :k]
    return (batch.ranked(batch.width if k is None else k) > 0).astype(float)


def average_precision(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute mean precision at the relevant documents, (b,).

    It is 0 where nothing is relevant.

    With ``k`` relevant documents after rank k count as missed. ``expected`` gives the mean over all
    orders of tied documents in closed form: [MN08]_, equation (4).
    """
    hits = (batch.ranked(batch.width) > 0).astype(float)
    ranks = np.arange(1, batch.width + 1)
    gained = _tied_gain(batch, hits) if expected else hits * np.cumsum(hits, axis=1) / ranks
    total = (batch.labels > 0).sum(axis=1).astype(float)
    return divided(gained[:, :k].sum(axis=1), total)


def _tied_gain(batch: QueryBatch, hits: FloatArray) -> FloatArray:
    """Return expected precision gained at each rank when tied documents come in random order."""
    groups = batch.tie_groups
    flat = groups.ravel()
    size = np.bincount(flat)[flat].reshape(groups.shape)
    inside = np.bincount(flat, hits.ravel())[flat].reshape(groups.shape)
    first = np.ones(groups.shape, dtype=bool)
    first[:, 1:] = groups[:, 1:] != groups[:, :-1]
    columns = np.arange(batch.width)
    start = np.maximum.accumulate(np.where(first, columns, 0), axis=1)
    before = np.cumsum(hits, axis=1) - hits
    ahead = np.take_along_axis(before, start, axis=1)
    mates = np.where(size > 1, (columns - start) * (inside - 1) / np.maximum(size - 1, 1), 0.0)
    return inside / size * (1.0 + ahead + mates) / (columns + 1)

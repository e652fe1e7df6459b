"""Rank-biased overlap, compatibility, and the top-k 0-1 loss."""

import numpy as np

from topkapi.analysis.metrics.query_batch import QueryBatch, divided
from topkapi.analysis.typing import FloatArray, IntArray


def rbo(batch: QueryBatch, persistence: float) -> FloatArray:
    """Compute extrapolated rank-biased overlap of the true list and the top of the ranking, (b,).

    The true list are the documents with labels above 0, best first (equal labels by row); the
    ranking is cut to its length m: [WMZ10]_, equation (32) for lists of one length. 0 where no
    document has a label above 0.
    """
    return _overlap(batch, batch.truth, persistence, extrapolate=True)


def compatibility(batch: QueryBatch, persistence: float) -> FloatArray:
    """Compute the highest rank-biased overlap with any ideal order, over its own, (b,).

    [CSV20]_, section 3.

    Documents of equal label may come in any order in an ideal list, so they take the ranking's.
    Overlaps are read down to the last retrieved or relevant document, as ir_measures does.
    """
    positions = np.empty(batch.labels.shape, dtype=np.int64)
    np.put_along_axis(positions, batch.order(batch.width), np.arange(batch.width)[None], axis=1)
    ideal = np.lexsort((positions, -batch.labels), axis=1)
    return _overlap(batch, ideal, persistence, extrapolate=False)


def _overlap(batch: QueryBatch, truth: IntArray, p: float, *, extrapolate: bool) -> FloatArray:
    length = (batch.labels > 0).sum(axis=1)
    depths = np.arange(1, batch.width + 1)
    retrieved = batch.retrieved.sum(axis=1)
    shared = _shared(batch.order(batch.width), retrieved, truth, length)
    weights = (1.0 - p) * p ** (depths - 1.0)
    if not extrapolate:
        read = depths <= np.maximum(retrieved, length)[:, None]
        own = np.where(read, np.minimum(depths, length[:, None]) / depths, 0.0)
        found = np.where(read, shared / depths, 0.0)
        return divided(found @ weights, own @ weights)
    inside = depths <= length[:, None]
    last = np.take_along_axis(shared, np.maximum(length - 1, 0)[:, None], axis=1)[:, 0]
    tail = last / np.maximum(length, 1) * p ** length.astype(float)
    return np.where(length > 0, (np.where(inside, shared / depths, 0.0) @ weights) + tail, 0.0)


def _shared(order: IntArray, retrieved: IntArray, truth: IntArray, length: IntArray) -> IntArray:
    """Count documents common to the first d ranks of both lists.

    The ranking ends at ``retrieved``, the true list at ``length``.
    """
    width = order.shape[1]
    seen = np.arange(1, width + 1)
    in_order, in_truth = np.empty_like(order), np.empty_like(order)
    np.put_along_axis(
        in_order, order, np.where(seen <= retrieved[:, None], seen, 2 * width), axis=1
    )
    np.put_along_axis(in_truth, truth, np.where(seen <= length[:, None], seen, 2 * width), axis=1)
    meeting = np.minimum(np.maximum(in_order, in_truth), width + 1)
    counts = np.zeros((order.shape[0], width + 2), dtype=np.int64)
    np.add.at(counts, (np.arange(order.shape[0])[:, None], meeting), 1)
    return np.cumsum(counts[:, 1 : width + 1], axis=1)


def topk_01(batch: QueryBatch, k: int) -> FloatArray:
    """Return 0 where the first k documents have the labels of the best order, else 1.

    [XLL09]_, equation (5).
    """
    wrong: FloatArray = (batch.ranked(k) != batch.best(k)).any(axis=1).astype(float)
    return wrong

"""NDCG under the standard and the LETOR 4.0 rule, and kappa-NDCG.

Gains 2^label - 1 are scaled by 2^-(highest label of the query): the scale cancels and labels over
1,024 do not overflow.
"""

import numpy as np

from topkapi.analysis.metrics.gains import Gains
from topkapi.analysis.metrics.query_batch import QueryBatch
from topkapi.analysis.typing import FloatArray


def standard_discounts(depth: int) -> FloatArray:
    """Return 1 / log2(1 + j) for ranks j = 1 .. depth."""
    return 1.0 / np.log2(np.arange(2, depth + 2))


def letor4_discounts(depth: int) -> FloatArray:
    """Return 1 for ranks 1 and 2, then 1 / log2(j).

    This is the rule of LETOR 4.0's evaluation script.
    """
    return 1.0 / np.log2(np.maximum(np.arange(1, depth + 1), 2))


def scaled_gains(labels: FloatArray, top: FloatArray) -> FloatArray:
    """Return (2^label - 1) / 2^top, (b, depth).

    ``top`` (b,) holds the highest labels of the queries.
    """
    return np.exp2(labels - top[:, None]) - np.exp2(-top)[:, None]


def ndcg(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute standard NDCG@k ([JK02]_; [NGLC12]_, section 3.3.1), (b,).

    It is 0 where nothing is relevant.

    On labels of a top-k ground truth it is kappa-NDCG@k ([NGLC12]_, equation (2)).
    """
    return _ndcg(batch, k, expected=expected, letor4=False)


def learned_ndcg(batch: QueryBatch, k: int | None, *, expected: bool, gains: Gains) -> FloatArray:
    """Compute NDCG@k with learned gains and discounts ([ZZCX13]_), (b,).

    Without k it is cut where the discounts end; a k beyond them is refused.
    """
    discounts = gains.cut(k)[: batch.width]
    depth = discounts.size
    if expected:
        found = batch.tie_means(gains.of_labels(batch.ranked(batch.width)))[:, :depth]
    else:
        found = gains.of_labels(batch.ranked(depth))
    ideal = gains.of_labels(batch.best(depth)) @ discounts
    return np.divide(found @ discounts, ideal, out=np.zeros(ideal.shape), where=ideal > 0)


def letor4_ndcg(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute NDCG@k by LETOR 4.0's script, (b,).

    It is also 0 where a query has fewer than k documents.
    """
    values = _ndcg(batch, k, expected=expected, letor4=True)
    return values if k is None else np.where(batch.sizes >= k, values, 0.0)


def _ndcg(batch: QueryBatch, k: int | None, *, expected: bool, letor4: bool) -> FloatArray:
    depth = batch.width if k is None else min(k, batch.width)
    discounts = letor4_discounts(depth) if letor4 else standard_discounts(depth)
    best = batch.best(depth)
    top = best[:, 0]
    if expected:
        gains = batch.tie_means(scaled_gains(batch.ranked(batch.width), top))[:, :depth]
    else:
        gains = scaled_gains(batch.ranked(depth), top)
    ideal = scaled_gains(best, top) @ discounts
    return np.divide(gains @ discounts, ideal, out=np.zeros(ideal.shape), where=ideal > 0)

"""NDCG under the standard and the LETOR 4.0 rule, and kappa-NDCG.

Gains 2^label - 1 are scaled by 2^-(highest label of the query): the scale cancels and labels over
1,024 do not overflow.
"""

from collections.abc import Callable

import numpy as np

from topkapi.analysis.metrics.gains import Gains
from topkapi.analysis.metrics.query_batch import QueryBatch, divided
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


def ndcg(
    batch: QueryBatch,
    k: int | None,
    *,
    expected: bool,
    discounts_of: Callable[[int], FloatArray] = standard_discounts,
) -> FloatArray:
    """Compute standard NDCG@k ([JK02]_; [NGLC12]_, section 3.3.1), (b,).

    It is 0 where nothing is relevant.

    On labels of a top-k ground truth it is kappa-NDCG@k ([NGLC12]_, equation (2)).
    """
    depth = batch.width if k is None else min(k, batch.width)
    discounts = discounts_of(depth)
    best = batch.best(depth)
    top = best[:, 0]
    if expected:
        gains = batch.tie_means(scaled_gains(batch.ranked(batch.width), top))[:, :depth]
    else:
        gains = scaled_gains(batch.ranked(depth), top)
    return divided(gains @ discounts, scaled_gains(best, top) @ discounts)


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
    return divided(found @ discounts, gains.of_labels(batch.best(depth)) @ discounts)


def letor4_ndcg(batch: QueryBatch, k: int | None, *, expected: bool) -> FloatArray:
    """Compute NDCG@k by LETOR 4.0's script, (b,).

    It is also 0 where a query has fewer than k documents.
    """
    values = ndcg(batch, k, expected=expected, discounts_of=letor4_discounts)
    return values if k is None else np.where(batch.sizes >= k, values, 0.0)

"""Measures over pairs of documents: Kendall's tau-b, weighted Kendall's tau and its capped form."""

import numpy as np

from topkapi.analysis.metrics.dcg import scaled_gains, standard_discounts
from topkapi.analysis.metrics.query_batch import QueryBatch, divided
from topkapi.analysis.typing import FloatArray


def kendall_tau(batch: QueryBatch) -> FloatArray:
    """Compute Kendall's tau-b of labels and scores, (b,).

    It is 0 where either is constant. Documents that were not retrieved tie behind all others.
    """
    concordant, label_pairs, score_pairs = (np.zeros(batch.labels.shape[0]) for _ in range(3))
    for shift in range(1, batch.width):
        both = batch.filled[:, shift:] & batch.filled[:, :-shift]
        first = np.where(both, np.sign(batch.labels[:, shift:] - batch.labels[:, :-shift]), 0.0)
        later, earlier = batch.scores[:, shift:], batch.scores[:, :-shift]
        second = np.where(both, (later > earlier).astype(float) - (later < earlier), 0.0)
        concordant += (first * second).sum(axis=1)
        label_pairs += np.abs(first).sum(axis=1)
        score_pairs += np.abs(second).sum(axis=1)
    return divided(concordant, np.sqrt(label_pairs * score_pairs))


def wkt(batch: QueryBatch, k: int | None, *, capped: bool = False) -> FloatArray:
    r"""Compute weighted Kendall's tau over the ideal DCG, an upper bound of 1 - NDCG@k, (b,).

    .. math:: \tfrac1{N_k} \sum_{j \le k} \alpha(j) \sum_{l > j} [f(x_{y_j}) \le f(x_{y_l})]

    [LGNC13]_, equation (12) with alpha(j) = gain times discount at true rank j; a tie in scores
    counts as an inversion (their strict sign breaks inequality (14)), documents of equal label do
    not. ``capped`` counts at most one inversion per position: the form ListMLE bounds.
    """
    depth = batch.width if k is None else min(k, batch.width)
    positions = batch.truth[:, :depth]
    labels = np.take_along_axis(batch.labels, positions, axis=1)
    weights = scaled_gains(labels, labels[:, 0]) * standard_discounts(depth)
    total: FloatArray = np.zeros(labels.shape[0])
    for position in range(depth):
        own = np.take_along_axis(batch.scores, positions[:, position, None], axis=1)
        worse = batch.filled & (batch.labels < labels[:, position, None])
        inversions = (worse & (batch.scores >= own)).sum(axis=1)
        total += weights[:, position] * (np.minimum(inversions, 1) if capped else inversions)
    return divided(total, weights.sum(axis=1))

"""What a place in the list is worth: the gains and discounts of kappa-NDCG at k."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def gains(k: int) -> FloatArray:
    """Gain of the true ranks 1 to k, (2^(k + 1 - rank) - 1) / 2^k (Niu et al. 2012, equation 2)."""
    return np.asarray(np.exp2(-np.arange(k, dtype=float)) - 2.0**-k)


def discounts(k: int) -> FloatArray:
    """Discount of the places 1 to k of a list, 1 / log2(1 + place)."""
    return np.asarray(1.0 / np.log2(np.arange(2, k + 2)))


def interest(ranks: int, fade: float) -> FloatArray:
    """How much a question should care about the first ranks: ``fade``^(rank - 1), summing to 1."""
    weights = fade ** np.arange(ranks, dtype=float)
    return np.asarray(weights / weights.sum())

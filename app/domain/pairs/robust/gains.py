"""Gains and discounts of kappa-NDCG at k."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def gains(k: int) -> FloatArray:
    """Return the gains of the true ranks 1 to k, (2^(k + 1 - rank) - 1) / 2^k.

    See Niu et al. 2012, equation 2.
    """
    return np.asarray(np.exp2(-np.arange(k, dtype=float)) - 2.0**-k)


def discounts(k: int) -> FloatArray:
    """Return the discounts of the positions 1 to k of a list, 1 / log2(1 + position)."""
    return np.asarray(1.0 / np.log2(np.arange(2, k + 2)))

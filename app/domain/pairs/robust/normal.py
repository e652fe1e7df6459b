"""The standard normal distribution in plain NumPy."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_SCALE = 0.3275911  # Abramowitz and Stegun 7.1.26: the error is at most 1.5e-7
_TERMS = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)


def density(x: FloatArray) -> FloatArray:
    """Return the density at ``x``."""
    return np.asarray(np.exp(-0.5 * x * x) * 0.3989422804014327)


def distribution(x: FloatArray) -> FloatArray:
    """Return the distribution function at ``x``."""
    half = np.abs(x) * 0.7071067811865476
    t = 1.0 / (1.0 + _SCALE * half)
    total = np.zeros_like(t)
    for term in _TERMS:
        total = (total + term) * t
    tail = 0.5 * total * np.exp(-half * half)
    return np.asarray(np.where(x < 0.0, tail, 1.0 - tail))

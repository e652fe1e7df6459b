"""Compiled special functions and random numbers of the inner loops.

They use only arithmetic, square roots and logarithms, so that a replay draws the same numbers.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from topkapi.app.domain.pairs.robust.compiled import compiled

_END: Final = 16.0  # beyond, the logistic function is 0 or 1 up to 1e-7
_PER_UNIT: Final = 32
_LOGISTIC: Final[NDArray[np.float64]] = 1.0 / (
    1.0 + np.exp(-np.arange(-_END * _PER_UNIT, _END * _PER_UNIT + 2) / _PER_UNIT)
)


@compiled
def logistic(value: float) -> float:
    """Return 1 / (1 + exp(-value)), interpolated in a table: accurate to 2e-5."""
    position = (min(max(value, -_END), _END) + _END) * _PER_UNIT
    index = np.uint64(position)
    low, high = _LOGISTIC[index], _LOGISTIC[index + np.uint64(1)]
    return float(low + (high - low) * (position - index))


@compiled
def probability(value: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * math.erfc(-value * 0.7071067811865476)


@compiled
def quantile(share: float) -> float:
    """Return the standard normal quantile (Acklam's rational approximation, error 1e-9)."""
    if share < 0.02425:
        return _tail(math.sqrt(-2.0 * math.log(share)))
    if share > 0.97575:
        return -_tail(math.sqrt(-2.0 * math.log(1.0 - share)))
    q = share - 0.5
    r = q * q
    top = -3.969683028665376e01 * r + 2.209460984245205e02
    top = ((top * r - 2.759285104469687e02) * r + 1.383577518672690e02) * r
    top = (top - 3.066479806614716e01) * r + 2.506628277459239e00
    low = -5.447609879822406e01 * r + 1.615858368580409e02
    low = ((low * r - 1.556989798598866e02) * r + 6.680131188771972e01) * r
    return top * q / ((low - 1.328068155288572e01) * r + 1.0)


@compiled
def _tail(q: float) -> float:
    top = (-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e00
    top = ((top * q - 2.549732539343734e00) * q + 4.374664141464968e00) * q
    low = (7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e00
    return (top + 2.938163982698783e00) / ((low * q + 3.754408661907416e00) * q + 1.0)


@compiled
def uniform(states: NDArray[np.uint64], stream: int) -> float:
    """Draw from (0, 1) and advance the state of ``stream`` (SplitMix64)."""
    states[stream] += np.uint64(0x9E3779B97F4A7C15)
    return (float(_mixed(states[stream]) >> np.uint64(11)) + 0.5) * (1.0 / 9007199254740992.0)


@compiled
def _mixed(state: np.uint64) -> np.uint64:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def streams(seed: np.uint64, purpose: int, step: int, count: int) -> NDArray[np.uint64]:
    """Return the states of ``count`` random streams, determined by the three numbers."""
    base = _mixed(_mixed(seed) + np.uint64(purpose))
    base = _mixed(base + np.uint64(step))
    states = np.empty(count, np.uint64)
    for stream in range(count):
        states[stream] = _mixed(base + np.uint64(stream))
    return states


@compiled
def draws(states: NDArray[np.uint64], count: int) -> NDArray[np.float64]:
    """Draw ``count`` numbers from (0, 1) with the first stream."""
    found = np.empty(count)
    for index in range(count):
        found[index] = uniform(states, 0)
    return found


@compiled
def quantiles(shares: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the standard normal quantiles of a matrix of shares."""
    found = np.empty_like(shares)
    for row in range(shares.shape[0]):
        for column in range(shares.shape[1]):
            found[row, column] = quantile(shares[row, column])
    return found


@compiled
def shares(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the standard normal shares below a matrix of scores, within (0, 1)."""
    found = np.empty_like(scores)
    for row in range(scores.shape[0]):
        for column in range(scores.shape[1]):
            found[row, column] = min(max(probability(scores[row, column]), 1e-6), 1.0 - 1e-6)
    return found

r"""Gaffke's bounds of the mean of independent bounded values [Gaf05]_, [PTL21]_.

Among n values and the end of the range, weights :math:`D` are uniform on the simplex; the upper
bound of the mean at level :math:`1 - \alpha` is the :math:`1 - \alpha` quantile of
:math:`\sum_i D_i x_i`, with the upper end of the range as :math:`x_{n+1}`; the lower bound is
symmetric. For values of 0 and 1 this is Clopper's and Pearson's interval. The bounds take a rare
extreme value into account that was not drawn, so skewed values and few queries do not make them too
short, and equal values do not have an interval of length 0.

With exponential :math:`E_i`, :math:`P(\sum D_i x_i > t) = P(\sum E_i (x_i - t) > 0)`, which is a
contour integral over the product of their characteristic functions.
"""

import numpy as np

from topkapi.analysis.lazy import optimize
from topkapi.analysis.typing import FloatArray

_STEP = 0.125  # of trapezoids over v, after the substitution s = c (1 + i sinh(v))
_ANGLE: FloatArray = np.arange(0, 12, _STEP)
_HEIGHT: FloatArray = np.cosh(_ANGLE) * _STEP / np.pi * np.where(_ANGLE > 0, 1.0, 0.5)
_TINY = 1e-12


def weighted_above(values: FloatArray, threshold: float) -> float:
    """Return the probability that a mean with uniformly distributed weights is above a threshold.

    Parameters
    ----------
    values
        Values (n,).
    threshold
        What the weighted mean is compared with.

    Examples
    --------
    >>> weighted_above(np.array([0.0, 0.0, 1.0]), 0.5)  # Beta(1, 2)
    0.25
    """
    gaps = values - threshold
    gaps = gaps[np.abs(gaps) > _TINY]
    if not gaps.size or gaps.max() < 0:
        return 0.0
    if gaps.min() > 0:
        return 1.0
    return _tail(gaps) if gaps.mean() < 0 else 1 - _tail(-gaps)


def _tail(gaps: FloatArray) -> float:
    """Return the probability that a sum of exponential variables times ``gaps`` is above 0.

    The path of the integral goes through the saddle point c.
    """
    pole = 1 / gaps.max()
    saddle = optimize.brentq(
        lambda s: (gaps / (1 - gaps * s)).sum() - 1 / s, 1e-9 * pole, (1 - 1e-9) * pole, rtol=1e-3
    )
    s = saddle * (1 + 1j * np.sinh(_ANGLE))
    with np.errstate(over="ignore", invalid="ignore"):  # the products grow beyond all bounds
        terms = saddle * _HEIGHT / (np.prod(1 - np.outer(s, gaps), axis=1) * s)
    return float(np.clip(np.nansum(terms.real), 0, 1))


def mean_interval(
    values: FloatArray, bounds: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Return the ends of Gaffke's interval of the mean.

    Parameters
    ----------
    values
        Independent values (n,) within the bounds.
    bounds
        Least and greatest value that is possible.
    level
        Level of the interval.

    Examples
    --------
    >>> [round(end, 4) for end in mean_interval(np.array([1.0, 1, 1, 0, 0, 0, 0, 0, 0, 0]), (0, 1))]
    [0.0667, 0.6525]
    """
    high = _upper(values, bounds[1], (1 - level) / 2)
    return -_upper(-values, -bounds[0], (1 - level) / 2), high


def _upper(values: FloatArray, most: float, tail: float) -> float:
    every, least = np.append(np.sort(values), most), float(values.min())
    if most - least < _TINY:
        return most
    return float(optimize.brentq(lambda t: weighted_above(every, t) - tail, least, most, xtol=1e-7))


def mean_above(values: FloatArray, bound: float, least: float) -> float:
    """Return the one-sided p of a mean of at most ``bound``, by Gaffke's test.

    Parameters
    ----------
    values
        Independent values (n,).
    bound
        Mean under the null hypothesis.
    least
        Least value that is possible.

    Examples
    --------
    >>> mean_above(np.array([0.2, 0.1, 0.3, 0.2, 0.4, 0.1]), 0.0, -1.0)
    0.3153
    """
    return 1 - weighted_above(np.append(np.sort(values), least), bound)

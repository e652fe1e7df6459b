"""Number of queries that a comparison of two systems needs, and Student's intervals of sums."""

from collections.abc import Sequence
from math import ceil, sqrt

from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.lazy import special, stats


def queries_to_tell_apart(
    difference: float, deviation: float, *, power: float = 0.8, level: float = 0.05
) -> int:
    """Return how many queries a paired t-test needs to find a difference between two systems.

    Parameters
    ----------
    difference
        Mean difference of the measure that should be found.
    deviation
        Standard deviation of the queries' differences.
    power
        Probability of finding it.
    level
        Probability of finding one where there is none.

    Examples
    --------
    >>> queries_to_tell_apart(0.05, 0.2)
    128
    """
    if difference <= 0 or deviation <= 0:
        raise AnalysisError("Difference and deviation must be positive.")

    def found(queries: int) -> float:
        degrees, shift = queries - 1, difference / deviation * queries**0.5
        return float(stats.nct.sf(stats.t.isf(level / 2, degrees), degrees, shift))

    few, many = 1, 2
    while found(many) < power:
        few, many = many, 2 * many
    while many - few > 1:
        middle = ceil((few + many) / 2)
        few, many = (few, middle) if found(middle) >= power else (middle, many)
    return many


def student_half(parts: Sequence[tuple[float, float]], level: float) -> float:
    """Return half of Student's interval for a sum of variances with their degrees of freedom.

    Those of the sum are Satterthwaite's [Sat46]_.

    Parameters
    ----------
    parts
        Variances, each with its degrees of freedom.
    level
        Level of the interval.

    Examples
    --------
    >>> student_half([(4.0, 10), (0.0, 3)], 0.95)
    4.456
    """
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / freedom for variance, freedom in parts)
    freedom = total**2 / below if below > 0 else 1.0
    return float(special.stdtrit(freedom, (1 + level) / 2)) * sqrt(total)

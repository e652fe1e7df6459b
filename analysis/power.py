"""Number of queries that a comparison of two systems needs."""

from math import ceil

from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.lazy import stats


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

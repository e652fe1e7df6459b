"""Queries that a comparison of two systems needs, against simulated comparisons."""

import numpy as np
import pytest
from scipy import stats

from topkapi.analysis.errors import AnalysisError
from topkapi.analysis.power import queries_to_tell_apart


def power_of(queries: int, difference: float, deviation: float) -> float:
    """Return the share of simulated t-tests that find the difference."""
    drawn = np.random.default_rng(1).normal(difference, deviation, (20_000, queries))
    return float(np.mean(stats.ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05))


@pytest.mark.parametrize(("difference", "deviation"), [(0.05, 0.1), (0.1, 0.12), (0.2, 0.15)])
def test_so_many_queries_find_the_difference_and_a_few_less_do_not(
    difference: float, deviation: float
) -> None:
    needed = queries_to_tell_apart(difference, deviation)
    assert power_of(needed, difference, deviation) == pytest.approx(0.8, abs=0.05)
    assert power_of(needed, difference, deviation) > 0.79
    assert power_of(needed - 1, difference, deviation) < 0.81


def test_no_difference_needs_no_answer() -> None:
    with pytest.raises(AnalysisError, match="positive"):
        queries_to_tell_apart(0.0, 0.1)

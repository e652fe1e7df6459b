"""Simulated assessors: the mean error of each model over random pairs."""

from itertools import combinations
from math import exp
from random import Random
from statistics import stdev

import pytest

from tests.cases import each_case
from topkapi.app.domain.pairs.answers import Preference
from topkapi.app.domain.pairs.simulated_assessors import (
    WIDTHS,
    Errors,
    SimulatedAssessor,
    mean_error_of_people,
    normal_width,
    true_worths,
)


def share_of_errors(errors: Errors, rate: float, apart: tuple[int, int] = (0, 50)) -> float:
    """Return the share of wrong answers over all pairs whose ranks are ``apart``."""
    wrong = asked = 0
    for number in range(300 if errors is Errors.PEOPLE else 30):
        random = Random(f"{errors}/{number}")
        worth = true_worths(50, 0, random, errors)
        assessor = SimulatedAssessor(worth, error=rate, errors=errors, random=random)
        order = sorted(range(50), key=lambda item: -worth[item])
        for one, other in combinations(range(50), 2):
            if apart[0] < other - one <= apart[1]:
                asked += 1
                wrong += assessor.prefer((order[one], order[other])) is Preference.SECOND
    return wrong / asked


@each_case(
    ("errors", "rate", "mean"),
    [
        (Errors.UNIFORM, 0.2, 0.2),
        (Errors.EVEN, 0.1, 0.1),
        (Errors.BRADLEY_TERRY, 0.1, 0.1),
        (Errors.NORMAL, 0.1, 0.1),
        (Errors.MIXED, 0.1, 0.05 + 0.9 * 0.05),  # lapses, else half the rate
        (Errors.PEOPLE, 0.0, mean_error_of_people()),
    ],
)
def test_the_mean_error_over_all_pairs_is_that_of_the_model(
    errors: Errors, rate: float, mean: float
) -> None:
    assert share_of_errors(errors, rate) == pytest.approx(mean, abs=0.006)


@pytest.mark.parametrize("errors", [Errors.EVEN, Errors.NORMAL, Errors.MIXED])
def test_errors_get_rarer_with_distance(errors: Errors) -> None:
    near, far = share_of_errors(errors, 0.1, (0, 3)), share_of_errors(errors, 0.1, (20, 50))
    assert near > 0.25
    assert far < 0.07
    if errors is Errors.MIXED:
        assert far > 0.04, "lapses do not get rarer"


def test_the_width_of_normal_errors_gives_the_mean_error() -> None:
    """Compare with the mean over drawn pairs; a width of .22 errs in 8.4 % of them, not in 10 %."""
    random = Random(3)
    apart = [abs(random.gauss(0, 1) - random.gauss(0, 1)) for _ in range(100_000)]
    for rate, width in ((0.1, 0.267), (0.0838, 0.22)):
        assert normal_width(rate) == pytest.approx(width, abs=0.003)
        mean = sum(1 / (1 + exp(each / width)) for each in apart) / len(apart)
        assert mean == pytest.approx(rate, abs=0.003)


def test_the_errors_of_people_have_the_widths_of_real_votes() -> None:
    """The spread of a query's scores, in units of the noise of an answer, is 1 over the width."""
    random = Random(5)
    drawn = sorted(1 / stdev(true_worths(300, 0, random, Errors.PEOPLE)) for _ in range(2000))
    for share, width in WIDTHS[1:-1]:
        assert drawn[int(share * 2000)] == pytest.approx(width, rel=0.08)
    graded = true_worths(300, 4, random, Errors.PEOPLE)
    assert len(set(graded)) == 4
    assert 0.4 < stdev(graded) < 8

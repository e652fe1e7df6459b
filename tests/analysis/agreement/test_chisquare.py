from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tests.analysis.agreement.test_coefficients import TABLE_2, TABLE_3
from topkapi.analysis.agreement import agreed, chi_square, permute_queries
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray


@pytest.mark.parametrize(
    ("ties", "shares", "statistic"), [(True, (74.5, 54.7), 420.43), (False, (89.7, 83.1), 28.45)]
)
def test_the_published_comparison(
    ties: bool, shares: tuple[float, float], statistic: float
) -> None:
    same1, all1 = map(float, agreed(TABLE_2, ties=ties))
    same2, all2 = map(float, agreed(TABLE_3, ties=ties))
    found = chi_square((same1, same2), (all1, all2))
    assert (round(100 * same1 / all1, 1), round(100 * same2 / all2, 1)) == shares
    assert round(found.statistic, 2) == statistic
    assert found.df == 1
    assert found.yates < found.statistic
    assert found.p < found.p_yates < 1e-6


counts = st.integers(0, 60)


@given(a=counts, b=counts, c=counts, d=counts)
def test_equals_the_textbook_sum(a: int, b: int, c: int, d: int) -> None:
    table = np.array([[a, c], [b, d]], dtype=float)
    found = chi_square((a, c), (a + b, c + d))
    if (table.sum(axis=0) == 0).any() or (table.sum(axis=1) == 0).any():
        assert np.isnan([found.statistic, found.yates, found.p, found.phi]).all()
        return
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    off = np.abs(table - expected)
    statistic = (off**2 / expected).sum()
    corrected = ((off - np.minimum(0.5, off)) ** 2 / expected).sum()
    assert found.statistic == pytest.approx(statistic, abs=1e-9)
    assert found.yates == pytest.approx(corrected, abs=1e-9)
    assert found.p == pytest.approx(stats.chi2.sf(statistic, 1), abs=1e-9)
    assert found.p_yates == pytest.approx(stats.chi2.sf(corrected, 1), abs=1e-9)
    assert found.phi == pytest.approx(np.sqrt(statistic / table.sum()), abs=1e-9)


def test_more_agreed_than_there_are_is_refused() -> None:
    with pytest.raises(BadData, match="not between"):
        chi_square((5, 1), (4, 2))


def every_exchange(agreed: FloatArray, total: FloatArray) -> float:
    seen = agreed[:, 0].sum() / total[:, 0].sum() - agreed[:, 1].sum() / total[:, 1].sum()
    hits = 0
    for swap in product([0, 1], repeat=len(agreed)):
        rows, one = np.arange(len(agreed)), np.array(swap)
        rates = [agreed[rows, t].sum() / total[rows, t].sum() for t in (one, 1 - one)]
        hits += abs(rates[0] - rates[1]) >= abs(seen) - 1e-12
    return float(hits / 2 ** len(agreed))


@st.composite
def agreed_votes(draw: st.DrawFn) -> tuple[FloatArray, FloatArray]:
    """Draw agreeing and all votes of up to seven queries under two tools."""
    shape = (draw(st.integers(1, 7)), 2)
    total = draw(arrays(float, shape, elements=st.integers(1, 29).map(float)))
    share = draw(arrays(float, shape, elements=st.floats(0, 1)))
    return np.round(share * total), total


@given(votes=agreed_votes())
def test_few_queries_are_exchanged_exactly(votes: tuple[FloatArray, FloatArray]) -> None:
    same, total = votes
    found = permute_queries(same, total)
    assert found.exact
    assert found.p == pytest.approx(every_exchange(same, total), abs=1e-12)


def test_many_queries_are_sampled_close_to_the_exact_value() -> None:
    rng = np.random.default_rng(7)
    total = np.full((13, 2), 40.0)
    same = rng.binomial(40, [0.72, 0.66], (13, 2)).astype(float)
    found = permute_queries(same, total)
    assert not found.exact
    assert found.p == pytest.approx(every_exchange(same, total), abs=0.02)


def test_queries_of_one_tool_exchange_their_tools() -> None:
    same = np.array([[9.0, 0], [8, 0], [0, 2], [0, 1]])
    total = np.array([[10.0, 0], [10, 0], [0, 10], [0, 10]])
    found = permute_queries(same, total)
    assert (found.exact, found.exchanges) == (True, 6)
    assert found.p == pytest.approx(1 / 3)  # 2 of the 6 ways to choose two of four


def test_nothing_under_one_tool_is_undefined() -> None:
    found = permute_queries(np.array([[3.0, 0]]), np.array([[4.0, 0]]))
    assert np.isnan(found.difference)
    assert np.isnan(found.p)

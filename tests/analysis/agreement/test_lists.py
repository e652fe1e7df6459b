from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from topkapi.analysis.agreement import (
    Scores,
    from_scores,
    list_similarity,
    pair_tables,
    rbo_matrix,
    tau_b,
)
from topkapi.analysis.typing import FloatArray


@given(seed=st.integers(0, 10**6), grades=st.integers(1, 6), documents=st.integers(2, 9))
def test_tau_b_equals_scipy(seed: int, grades: int, documents: int) -> None:
    values = np.random.default_rng(seed).integers(0, grades, (2, documents)).astype(float)
    both = from_scores([Scores(0, np.array([0, 1]), values)], 2, 1)
    table = pair_tables(both).pooled()
    expected = stats.kendalltau(values[0], values[1]).statistic
    assert float(tau_b(table)) == pytest.approx(expected, abs=1e-9, nan_ok=True)


def orders(values: FloatArray) -> list[tuple[int, ...]]:
    """Yield every ranking of the documents that the scores allow."""
    whole = permutations(range(values.size))
    return [o for o in whole if all(values[a] >= values[b] for a, b in pairwise(o))]


def rbo_of_lists(one: tuple[int, ...], two: tuple[int, ...], depth: int, p: float) -> float:
    overlap = [len(set(one[:d]) & set(two[:d])) / d for d in range(1, depth + 1)]
    tail = sum(p**d * share for d, share in enumerate(overlap, start=1))
    return float(overlap[-1] * p**depth + (1 - p) / p * tail)


@pytest.mark.thorough
@given(
    seed=st.integers(0, 10**6),
    grades=st.integers(1, 5),
    depth=st.integers(1, 5),
    p=st.sampled_from([0.5, 0.9]),
)
def test_rbo_is_the_mean_over_all_ways_to_break_ties(
    seed: int, grades: int, depth: int, p: float
) -> None:
    values = np.random.default_rng(seed).integers(0, grades, (2, 5)).astype(float)
    ways = list(product(orders(values[0]), orders(values[1])))
    expected = np.mean([rbo_of_lists(one, two, depth, p) for one, two in ways])
    found = rbo_matrix(values, depth=depth, persistence=p)
    assert found[0, 1] == pytest.approx(expected, abs=1e-9)


def test_rbo_of_equal_and_of_disjoint_lists() -> None:
    labels = np.array([[2.0, 1, 0, 0], [2, 1, 0, 0], [0, 0, 2, 1]])
    found = rbo_matrix(labels, depth=2)
    assert found[0, 1] == pytest.approx(1)
    assert found[0, 2] == 0


def test_two_lists_are_compared_on_the_documents_that_both_judged() -> None:
    no = np.nan
    labels = np.array([[3.0, 2, 1, 0, 0], [3, no, 2, 1, 0], [no, 3, 2, 1, 0], [no, no, no, no, no]])
    found = rbo_matrix(labels, depth=3)
    for one, other in ((0, 1), (0, 2), (1, 2)):
        shared = ~np.isnan(labels[one]) & ~np.isnan(labels[other])
        plain = rbo_matrix(labels[[one, other]][:, shared], depth=3)[0, 1]
        assert found[one, other] == found[other, one] == pytest.approx(plain)
    assert found[1, 2] == pytest.approx(1), "what one could not judge is no difference"
    assert np.isnan(found[3]).all()
    assert list_similarity([Scores(0, np.arange(4), labels)], depth=3).rbo.size == 3


def test_lists_are_compared_on_shared_queries_only() -> None:
    labels = np.array([[2.0, 1, 0], [2, 1, 0]])
    one = Scores(1, np.array([0, 3]), labels)
    alone = Scores(2, np.array([4]), labels[:1])
    found = list_similarity([one, alone], depth=2)
    assert (found.query.tolist(), found.first.tolist(), found.second.tolist()) == ([1], [0], [3])
    assert list_similarity([alone], depth=2).rbo.size == 0

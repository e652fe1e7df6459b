from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

from tests.analysis.aggregation.exact import exact_cost
from topkapi.analysis.aggregation import (
    kemeny_cost,
    kemeny_order,
    majority_table,
    supervised_kemeny,
    votes_of_scores,
)
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray


def cheapest(votes: FloatArray) -> float:
    orders = permutations(range(votes.shape[0]))
    return min(kemeny_cost(votes, np.array(order)) for order in orders)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
def test_the_integer_program_is_exact(seed: int, n: int) -> None:
    votes = np.random.default_rng(seed).integers(0, 5, (n, n)).astype(float)
    np.fill_diagonal(votes, 0)
    if n > 1:
        assert exact_cost(votes) == pytest.approx(cheapest(votes))


@given(seed=st.integers(0, 10**6), n=st.integers(2, 7))
def test_majorities_without_cycles_give_exact_kemeny(seed: int, n: int) -> None:
    """Check majorities with ties: only the strict ones must not be cyclic."""
    rng = np.random.default_rng(seed)
    votes = rng.integers(0, 4, (n, n)).astype(float)
    np.fill_diagonal(votes, 0)
    groups, _ = csgraph.connected_components(votes > votes.T, connection="strong")
    if groups < n:  # circles: take the side of a random order instead
        order = rng.permutation(n)
        votes = votes + 4 * (order[:, None] < order[None, :])
    found = kemeny_order(votes, rng.permutation(n))
    least = np.minimum(votes, votes.T)[np.triu_indices(n, k=1)].sum()
    assert kemeny_cost(votes, found) == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize(
    ("rankers", "k", "mean", "worst"),
    [(3, 30, 0.005, 0.03), (5, 30, 0.005, 0.03), (3, 15, 0.02, 1), (5, 15, 0.02, 1)],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_random_rankings_of_30_are_close_to_exact(
    rankers: int, k: int, mean: float, worst: float, weighted: bool
) -> None:
    rng = np.random.default_rng(rankers + k)
    excess = []
    for _ in range(12):
        rankings = np.array([rng.permutation(30) for _ in range(rankers)])
        weights = rng.uniform(0.5, 1.5, rankers) if weighted else np.ones(rankers)
        votes = majority_table(rankings, weights, k=k)
        found = supervised_kemeny(rankings, weights=weights, k=k)
        excess.append(kemeny_cost(votes, found) / exact_cost(votes) - 1)
    assert min(excess) > -1e-9
    assert np.mean(excess) < mean
    assert max(excess) < worst


@given(seed=st.integers(0, 10**6))
def test_refining_never_costs_more_than_the_printed_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rankings = np.array([rng.permutation(9) for _ in range(4)])
    votes = majority_table(rankings, np.ones(4), k=6, outside=True)
    plain = supervised_kemeny(rankings, k=6, outside=True, refine=False)
    better = supervised_kemeny(rankings, k=6, outside=True)
    assert kemeny_cost(votes, better) <= kemeny_cost(votes, plain)
    assert sorted(better.tolist()) == list(range(9))


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6), outside=st.booleans())
def test_the_table_is_algorithm_2_step_by_step(seed: int, k: int, outside: bool) -> None:
    rng = np.random.default_rng(seed)
    rankings = np.array([rng.permutation(6) for _ in range(3)])
    weights = rng.random(3)
    wanted = np.zeros((6, 6))
    for ranking, weight in zip(rankings, weights, strict=True):
        for i in range(k):
            for j in range(i + 1, 6 if outside else k):
                wanted[ranking[i], ranking[j]] += weight
    found = majority_table(rankings, weights, k=k, outside=outside)
    assert found == pytest.approx(wanted, abs=1e-12)


def test_a_heavier_ranker_wins_and_equal_candidates_keep_the_initial_order() -> None:
    rankings = np.array([[0, 1, 2], [2, 1, 0]])
    assert supervised_kemeny(rankings, weights=np.array([1.0, 2.0])).tolist() == [2, 1, 0]
    assert supervised_kemeny(rankings, initial=np.array([1, 2, 0])).tolist() == [1, 2, 0]


def test_a_thousand_candidates_in_order_do_not_exhaust_the_stack() -> None:
    votes = votes_of_scores(-np.arange(1000.0)[None], np.ones(1))
    assert kemeny_order(votes, np.arange(1000)).tolist() == list(range(1000))


def test_what_is_no_ranking_is_refused() -> None:
    with pytest.raises(BadData, match="permutation of 0"):
        supervised_kemeny(np.array([[0, 0, 1]]))
    with pytest.raises(BadData, match="as many weights"):
        supervised_kemeny(np.array([[0, 1]]), weights=np.array([1.0, 1.0]))
    with pytest.raises(BadData, match="initial order"):
        supervised_kemeny(np.array([[0, 1]]), initial=np.array([0, 0]))

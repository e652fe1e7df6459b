from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csgraph

from topkapi.analysis.aggregation import (
    kemeny_cost,
    kemeny_order,
    local_kemenization,
    majority_table,
    supervised_kemeny,
    votes_of_scores,
)
from topkapi.analysis.errors import BadData
from topkapi.analysis.typing import FloatArray, IntArray


def cheapest(votes: FloatArray) -> float:
    orders = permutations(range(votes.shape[0]))
    return min(kemeny_cost(votes, np.array(order)) for order in orders)


@st.composite
def tables(draw: st.DrawFn, *, most_votes: int, max_size: int) -> FloatArray:
    """Draw a table of votes between at least two candidates."""
    n = draw(st.integers(2, max_size))
    votes = draw(arrays(float, (n, n), elements=st.integers(0, most_votes).map(float)))
    np.fill_diagonal(votes, 0)
    return votes


def rankings_of(candidates: int, rankers: int) -> st.SearchStrategy[IntArray]:
    """Draw one ranking of all candidates for each ranker."""
    one = st.permutations(range(candidates))
    return st.lists(one, min_size=rankers, max_size=rankers).map(np.array)


@given(votes=tables(most_votes=3, max_size=7), data=st.data())
def test_majorities_without_cycles_give_exact_kemeny(
    votes: FloatArray, data: st.DataObject
) -> None:
    """Check majorities with ties: only the strict ones must not be cyclic."""
    n = len(votes)
    groups, _ = csgraph.connected_components(votes > votes.T, connection="strong")
    if groups < n:  # circles: take the side of any order instead
        order = np.array(data.draw(st.permutations(range(n))))
        votes = votes + 4 * (order[:, None] < order[None, :])
    found = kemeny_order(votes, np.array(data.draw(st.permutations(range(n)))))
    least = np.minimum(votes, votes.T)[np.triu_indices(n, k=1)].sum()
    assert kemeny_cost(votes, found) == pytest.approx(least, abs=1e-9)


@given(rankings=rankings_of(9, rankers=4))
def test_refining_never_costs_more_than_the_printed_algorithm(rankings: IntArray) -> None:
    votes = majority_table(rankings, np.ones(4), k=6, outside=True)
    plain = supervised_kemeny(rankings, k=6, outside=True, refine=False)
    better = supervised_kemeny(rankings, k=6, outside=True)
    assert kemeny_cost(votes, better) <= kemeny_cost(votes, plain)
    assert sorted(better.tolist()) == list(range(9))


@given(
    rankings=rankings_of(6, rankers=3),
    weights=arrays(float, 3, elements=st.floats(0, 1)),
    k=st.integers(1, 6),
    outside=st.booleans(),
)
def test_the_table_is_algorithm_2_step_by_step(
    rankings: IntArray, weights: FloatArray, k: int, outside: bool
) -> None:
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


@given(votes=tables(most_votes=3, max_size=8), data=st.data())
def test_after_local_kemenization_no_majority_is_against_two_neighbours(
    votes: FloatArray, data: st.DataObject
) -> None:
    initial = np.array(data.draw(st.permutations(range(len(votes)))))
    found = local_kemenization(votes, initial)
    assert sorted(found.tolist()) == list(range(len(votes)))
    assert all(votes[one, other] >= votes[other, one] for one, other in pairwise(found.tolist()))
    assert kemeny_cost(votes, found) <= kemeny_cost(votes, initial)
    assert np.array_equal(local_kemenization(votes, found), found)


def test_candidates_that_nobody_compared_keep_their_order() -> None:
    votes = np.zeros((4, 4))
    votes[2, 0] = 1.0  # they are not neighbours: 1 is between them, and nobody compared it
    assert local_kemenization(votes, np.array([0, 1, 2, 3])).tolist() == [0, 1, 2, 3]

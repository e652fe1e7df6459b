import math

import numpy as np
import pytest

from tests.cases import each_case
from topkapi.analysis.metrics import kappa_ndcg_of_lists


def by_hand(ranks: list[int], k: int, n: int) -> float:
    def gain(rank: int) -> int:
        return 2 ** (k - rank) - 1 if 0 <= rank < k else 0

    found = sum(gain(rank) / math.log2(2 + j) for j, rank in enumerate(ranks[:k]))
    return found / sum(gain(rank) / math.log2(2 + rank) for rank in range(min(n, k)))


@each_case(("n", "k"), [(50, 10), (5, 1), (4, 9), (12, 12), (1, 1)])
def test_lists_of_true_ranks_score_as_the_printed_formula(n: int, k: int) -> None:
    rng = np.random.default_rng(n * k)
    ranks = np.stack([rng.permutation(n) for _ in range(40)])
    expected = [by_hand(list(map(int, row)), k, n) for row in ranks]
    np.testing.assert_allclose(kappa_ndcg_of_lists(ranks, k, n_items=n), expected, rtol=1e-12)


def test_an_empty_place_gains_nothing_and_long_lists_do_not_overflow() -> None:
    assert kappa_ndcg_of_lists(np.array([[-1, 0]]), 2)[0] == pytest.approx(by_hand([9, 0], 2, 9))
    assert kappa_ndcg_of_lists(np.arange(3000)[None], 3000)[0] == pytest.approx(1.0)


def test_bad_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="runs, length"):
        kappa_ndcg_of_lists(np.arange(3), 2)
    with pytest.raises(ValueError, match="at least 1"):
        kappa_ndcg_of_lists(np.zeros((1, 1), dtype=int), 0)

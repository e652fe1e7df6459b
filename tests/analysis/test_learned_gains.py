"""NDCG and kappa-NDCG with learned gains and discounts."""

import numpy as np
import pytest

from topkapi.analysis.data import RankingData, to_topk
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics import Gains, evaluate, usual_gains
from topkapi.analysis.metrics.registry import Ties

RNG = np.random.default_rng(0)
DATA = RankingData(
    np.zeros((60, 1)), RNG.integers(0, 4, 60).astype(float), np.array([0, 3, 20, 21, 60])
)
SCORES = RNG.integers(0, 9, 60).astype(float)


@pytest.mark.parametrize("ties", ["stable", "expected"])
@pytest.mark.parametrize("name", ["ndcg@1", "ndcg@5", "ndcg@10"])
def test_the_usual_gains_give_the_usual_ndcg(name: str, ties: Ties) -> None:
    usual = evaluate(DATA, SCORES, [name], per_query=True, ties=ties)[name]
    gains = usual_gains(4, 10)
    found = evaluate(DATA, SCORES, [name], per_query=True, ties=ties, gains=gains)[name]
    np.testing.assert_allclose(found, usual, atol=1e-12)


def test_gains_and_discounts_by_hand() -> None:
    data = RankingData(np.zeros((3, 1)), np.array([0.0, 2.0, 1.0]), np.array([0, 3]))
    gains = Gains(np.array([1.0, 2.0, 5.0]), np.array([1.0, 0.25]))
    found = evaluate(data, np.array([3.0, 2.0, 1.0]), ["ndcg@2", "ndcg"], gains=gains)
    assert found["ndcg@2"] == pytest.approx((0 * 1.0 + 4 * 0.25) / (4 * 1.0 + 1 * 0.25))
    assert found["ndcg"] == found["ndcg@2"]  # without a cut, where the discounts end


def test_kappa_ndcg_takes_gains_of_its_labels_or_the_discounts_alone() -> None:
    truth = to_topk(DATA, 5)
    usual = evaluate(truth, SCORES, ["kappa-ndcg@5"])["kappa-ndcg@5"]
    full = evaluate(truth, SCORES, ["kappa-ndcg@5"], gains=usual_gains(6, 5))["kappa-ndcg@5"]
    assert full == pytest.approx(usual)
    few = usual_gains(4, 10)
    with pytest.raises(BadData, match="grades 0 to 3, the data have a label 5"):
        evaluate(truth, SCORES, ["kappa-ndcg@5"], gains=few)
    borrowed = evaluate(truth, SCORES, ["kappa-ndcg@5"], gains=few.discounts_only(6))
    assert borrowed["kappa-ndcg@5"] == pytest.approx(usual)
    even = Gains(few.gains, np.ones(10)).discounts_only(6)
    assert evaluate(truth, SCORES, ["kappa-ndcg@5"], gains=even)["kappa-ndcg@5"] != usual


def test_labels_over_a_thousand_do_not_overflow() -> None:
    gains = usual_gains(2, 3).discounts_only(1500)
    assert np.isfinite(gains.gains).all()
    assert gains.gains[-1] == pytest.approx(0.5)


def test_gains_that_do_not_fit_are_refused() -> None:
    with pytest.raises(BadData, match="reach position 3: k = 10"):
        evaluate(DATA, SCORES, ["ndcg@10"], gains=usual_gains(4, 3))
    with pytest.raises(BadData, match="none of which"):
        evaluate(DATA, SCORES, ["map"], gains=usual_gains(4, 3))
    halves = DATA.with_labels(DATA.labels / 2)
    with pytest.raises(BadData, match="whole labels"):
        evaluate(halves, SCORES, ["ndcg@3"], gains=usual_gains(4, 3))


def test_other_measures_stay_as_they_are_beside_them() -> None:
    gains = usual_gains(4, 10, linear=True)
    alone = evaluate(DATA, SCORES, ["map", "letor4-ndcg@3"])
    beside = evaluate(DATA, SCORES, ["map", "letor4-ndcg@3", "ndcg@10"], gains=gains)
    assert {name: beside[name] for name in alone} == alone

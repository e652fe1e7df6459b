"""Boosting against versions that keep every pair and try every threshold."""

from math import exp, log

import numpy as np
import pytest

from topkapi.analysis.data import RankingData, to_topk
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.models import MODELS, AdaRank, FocusedBoost, RankBoost
from topkapi.analysis.models.boosting.pair_weights import FactoredPairs
from topkapi.analysis.models.boosting.weak_rankers import FeatureFamily, StumpFamily
from topkapi.analysis.models.focused_boost import Rounds
from topkapi.analysis.models.rankboost import vote
from topkapi.analysis.typing import FloatArray, IntArray


def small_data(seed: int, n_features: int = 3) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = np.array([6, 9, 5, 1, 8])
    features = np.round(rng.random(size=(int(sizes.sum()), n_features)), 1)
    labels = rng.integers(0, 3, size=int(sizes.sum())).astype(float)
    return RankingData(features, labels, np.concatenate([[0], np.cumsum(sizes)]))


def plain_pairs(data: RankingData) -> list[tuple[int, int]]:
    owner = data.queries
    return [
        (u, v)
        for u in range(data.n_rows)
        for v in range(data.n_rows)
        if owner[u] == owner[v] and data.labels[u] > data.labels[v]
    ]


def plain_rankboost(data: RankingData, rounds: int) -> FloatArray:
    pairs = plain_pairs(data)
    weights = {pair: 1.0 / len(pairs) for pair in pairs}
    scores = np.zeros(data.n_rows)
    for _ in range(rounds):
        best: tuple[float, FloatArray] = (0.0, scores)
        for feature in range(data.n_features):
            column = data.features[:, feature]
            for value in np.unique(column)[:-1]:
                above = (column > value).astype(float)
                r = sum(w * (above[u] - above[v]) for (u, v), w in weights.items())
                if abs(r) > abs(best[0]) + 1e-12:
                    best = (r, above)
        alpha = 0.5 * log((1 + best[0]) / (1 - best[0]))
        scores = scores + alpha * best[1]
        for u, v in pairs:
            weights[u, v] *= exp(-alpha * (best[1][u] - best[1][v]))
        total = sum(weights.values())
        weights = {pair: weight / total for pair, weight in weights.items()}
    return scores


@pytest.mark.parametrize("seed", range(3))
def test_rankboost_with_factored_weights_equals_rankboost_with_a_pair_array(seed: int) -> None:
    data = small_data(seed)
    found = RankBoost(rounds=8).fit(data).predict(data)
    np.testing.assert_allclose(found, plain_rankboost(data, 8), atol=1e-9)


def test_weights_too_small_for_exponentials_are_those_of_logarithms() -> None:
    data = small_data(2)
    data = data.select([0, 1, 2, 4])
    order = np.lexsort((-data.labels, data.queries))
    pairs = FactoredPairs(data, data.labels[order])
    pairs.scores += np.random.default_rng(1).normal(size=data.n_rows)
    level = pairs.scores - pairs.scores.mean()
    np.testing.assert_allclose(pairs._by_logarithms(level), pairs.potentials(), atol=1e-12)
    for scale in (1.0, 40.0, 400.0, 4000.0):  # better documents ever farther ahead
        pairs.scores = np.asarray(scale * data.labels[order], dtype=np.float64)
        weights = pairs.potentials()
        assert np.isfinite(weights).all()
        assert np.abs(weights).max() > 0.01
        assert abs(weights.sum()) < 1e-9


@pytest.mark.thorough
def test_boosting_goes_on_where_every_preference_is_learned() -> None:
    rng = np.random.default_rng(0)
    features = rng.random((16, 3))
    features[:, 0] = np.tile(np.linspace(1.0, 0.0, 8), 2)
    labels = np.tile([5.0, 4, 3, 2, 1, 0, 0, 0], 2)
    data = RankingData(features, labels, np.array([0, 8, 16]), topk=5)
    for model in (FocusedBoost(k=5, rounds=1500), RankBoost(rounds=1500)):
        scores = model.fit(data).predict(data)
        assert np.isfinite(scores).all()
        assert (np.argsort(-scores[:8])[:5] < 5).all()


def test_potentials_are_the_weights_won_minus_lost() -> None:
    data = small_data(4)
    order = np.lexsort((-data.labels, data.queries))
    pairs = FactoredPairs(data, data.labels[order])
    pairs.scores = np.random.default_rng(0).normal(size=data.n_rows)
    expected = np.zeros(data.n_rows)
    position = np.argsort(order)
    for u, v in plain_pairs(data):
        weight = exp(pairs.scores[position[v]] - pairs.scores[position[u]])
        expected[position[u]] += weight
        expected[position[v]] -= weight
    total = _total(data, pairs.scores, position)
    np.testing.assert_allclose(pairs.potentials(), expected / total)


def _total(data: RankingData, scores: FloatArray, position: IntArray) -> float:
    return sum(exp(scores[position[v]] - scores[position[u]]) for u, v in plain_pairs(data))


@pytest.mark.parametrize("family", [StumpFamily, FeatureFamily])
def test_every_edge_is_the_weighted_quality_of_its_weak_ranker(
    family: type[StumpFamily] | type[FeatureFamily],
) -> None:
    work = Rounds(to_topk(small_data(5), 4), 0.3, family)
    for _ in range(4):
        work.step()
    edges, potentials = work.edges(), work.pairs.potentials()
    for index in range(work.family.size):
        lists = float(work.chances @ work.family.quality(index))
        pairs = float(potentials @ work.family.values(index))
        assert edges[index] == pytest.approx(0.3 * lists + 0.7 * pairs)


def test_focused_boost_at_zero_is_rankboost_on_the_pairs_of_t_and_f() -> None:
    rng = np.random.default_rng(6)  # enough pairs that no two stumps have the same edge
    graded = RankingData(
        rng.random((600, 3)), rng.integers(0, 3, size=600).astype(float), np.arange(0, 601, 10)
    )
    data = to_topk(graded, 3)
    focused = FocusedBoost(k=3, beta=0.0, rounds=20, weak="stumps").fit(data)
    parent = RankBoost(rounds=20).fit(data.with_labels(np.minimum(data.labels, 1.0)))
    np.testing.assert_allclose(np.abs(focused.alphas_), np.abs(parent.alphas_))
    difference = focused.predict(data) - parent.predict(data)
    for part in np.split(difference, data.offsets[1:-1]):
        np.testing.assert_allclose(part, part[0], atol=1e-9)  # the same order in every query


def test_focused_boost_at_one_is_adarank_within_t() -> None:
    data = to_topk(small_data(7), 4)
    keep = data.labels > 0
    sizes = np.add.reduceat(keep.astype(int), data.offsets[:-1])
    lists = RankingData(
        data.features[keep], data.labels[keep], np.concatenate([[0], np.cumsum(sizes)]), topk=4
    )
    focused = FocusedBoost(k=4, beta=1.0, rounds=15).fit(data)
    parent = AdaRank(rounds=15, measure="ndcg").fit(lists)
    weights = np.bincount(focused.features_, focused.alphas_, minlength=3)
    np.testing.assert_allclose(weights, parent.coef_)


def test_the_original_adarank_locks_on_one_feature_and_the_default_does_not() -> None:
    data = small_data(8, n_features=6)
    assert np.count_nonzero(AdaRank(rounds=30).fit(data).coef_) > 1
    original = AdaRank(rounds=30, update="original").fit(data).coef_
    assert np.count_nonzero(original) < np.count_nonzero(AdaRank(rounds=30).fit(data).coef_)


def test_a_weak_ranker_that_is_never_wrong_gets_a_finite_vote() -> None:
    assert np.isfinite(vote(1.0))
    data = RankingData(np.array([[1.0], [0.0]]), np.array([1.0, 0.0]), np.array([0, 2]))
    scores = RankBoost(rounds=5).fit(data).predict(data)
    assert scores[0] > scores[1]
    assert np.isfinite(scores).all()


def test_validation_keeps_the_round_with_the_best_measure() -> None:
    data, other = small_data(9), small_data(10)
    whole = RankBoost(rounds=40).fit(data)
    kept = RankBoost(rounds=40).fit(data, other)
    assert 0 < kept.alphas_.size <= 40
    np.testing.assert_allclose(whole.alphas_[: kept.alphas_.size], kept.alphas_)


@pytest.mark.parametrize("name", ["adarank", "focused-boost"])
def test_a_feature_that_falls_with_relevance_is_used(name: str) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 200).astype(float)
    features = np.stack([rng.random(200), -labels + 0.1 * rng.random(200)], axis=1)
    data = RankingData(features, labels, np.arange(0, 201, 10))
    given = {"weak": "features"} if name == "focused-boost" else {}
    learn = to_topk(data, 5) if name == "focused-boost" else data
    model = MODELS[name](rounds=5, **given).fit(learn)
    assert evaluate(data, model.predict(data), ["ndcg@10"])["ndcg@10"] > 0.95

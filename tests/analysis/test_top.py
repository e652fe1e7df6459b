"""TopMargin, TopSlack and TopRank against enumeration of all rankings."""

import time
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from analysis.data import RankingData, read_folds
from analysis.errors import BadData
from analysis.metrics import evaluate
from analysis.models import ListNet, RankSVM, Regression, TopMargin, TopRank, TopSlack
from analysis.models.top_oracle import (
    LEAST_LOSS,
    TopLists,
    TopLoss,
    margin_violation,
    slack_violation,
    top_lists,
)
from analysis.typing import FloatArray

MQ2008 = Path(__file__).parents[3] / "shared/data/MQ2008"
minimize: Any = optimize.minimize


def one_query(labels: FloatArray, n: int, loss: TopLoss, seed: int) -> TopLists | None:
    data = RankingData(np.ones((labels.size, 1)), labels, np.array([0, labels.size]))
    lists = top_lists(data, n, loss)
    return lists[0].with_ties_by(np.random.default_rng(seed).random(labels.size)) if lists else None


def all_rankings(lists: TopLists, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Loss and lead of every wrong ranking of one query."""
    count = int(lists.filled[0].sum())
    orders = np.array(list(permutations(range(count))))[:, : lists.discounts.size]
    loss = 1.0 - lists.gains[0][orders] @ lists.discounts
    lead = scores[orders] @ lists.discounts - scores[lists.best[0]] @ lists.discounts
    wrong = loss > LEAST_LOSS
    return loss[wrong], lead[wrong]


@pytest.mark.parametrize("loss", ["ndcg", "precision"])
def test_margin_scaling_finds_the_most_violated_ranking(loss: TopLoss) -> None:
    rng = np.random.default_rng(1)
    found = 0
    for trial in range(400):
        labels = rng.integers(0, 4, rng.integers(2, 7)).astype(float)
        lists = one_query(labels, int(rng.integers(1, 6)), loss, trial)
        if lists is None:
            continue
        scores = rng.normal(0, rng.choice([0.1, 1.0, 4.0]), labels.size)
        slack, multiplier, ranking = margin_violation(lists, scores[None])
        losses, leads = all_rankings(lists, scores)
        expected = max(0.0, float((losses + leads).max()))
        assert slack[0] == pytest.approx(expected, abs=1e-9)
        assert multiplier[0] == (expected > 0)
        own = 1.0 - lists.gains[0][ranking[0]] @ lists.discounts
        assert own > LEAST_LOSS or expected == 0
        found += 1
    assert found > 150


@pytest.mark.parametrize("loss", ["ndcg", "precision"])
def test_slack_scaling_finds_it_nearly_always_and_never_more_than_there_is(loss: TopLoss) -> None:
    rng = np.random.default_rng(2)
    exact, ratios = [], []
    for trial in range(600):
        labels = rng.integers(0, 3, rng.integers(2, 7)).astype(float)
        lists = one_query(labels, int(rng.integers(1, 6)), loss, trial)
        if lists is None:
            continue
        scores = rng.normal(0, rng.choice([0.1, 1.0, 4.0]), labels.size)
        slack, multiplier, ranking = slack_violation(lists, scores[None])
        losses, leads = all_rankings(lists, scores)
        expected = max(0.0, float((losses * (1.0 + leads)).max()))
        assert slack[0] <= expected + 1e-9
        exact.append(abs(slack[0] - expected) <= 1e-9)
        if expected > 0:
            ratios.append(slack[0] / expected)
        if slack[0] > 0:
            own = 1.0 - lists.gains[0][ranking[0]] @ lists.discounts
            assert multiplier[0] == pytest.approx(own)
    assert np.mean(exact) > 0.99
    assert np.mean(ratios) > 0.99


def small_data(seed: int) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = [4, 3, 5]
    labels = np.concatenate([rng.permutation(np.arange(size) % 3) for size in sizes]).astype(float)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return RankingData(rng.normal(size=(sum(sizes), 2)), labels, offsets)


@pytest.mark.parametrize("model", [TopMargin, TopSlack])
@pytest.mark.parametrize("seed", range(3))
def test_cutting_planes_reach_the_optimum_over_every_ranking(
    model: type[TopMargin], seed: int
) -> None:
    data, c = small_data(seed), 3.0
    ranker = model(n=3, c=c, epsilon=1e-8)
    lists = [part.with_ties_by(data.features[:, 0]) for part in top_lists(data, 3, "ndcg")]
    weights = _fitted(ranker, data, lists)
    planes, heights = zip(
        *(_planes(part, row, data, model) for part in lists for row in range(part.rows.shape[0])),
        strict=True,
    )

    def slack(vector: FloatArray, query: int) -> float:
        return max(0.0, float((heights[query] - planes[query] @ vector).max()))

    def objective(vector: FloatArray) -> float:
        total = sum(slack(vector, query) for query in range(len(planes)))
        return float(0.5 * vector @ vector + c * total / data.n_queries)

    n_planes = len(planes)
    constraints = [
        {"type": "ineq", "fun": lambda z, q=query: planes[q] @ z[:2] - heights[q] + z[2 + q]}
        for query in range(n_planes)
    ]
    best = minimize(
        lambda z: 0.5 * z[:2] @ z[:2] + c * z[2:].sum() / data.n_queries,
        np.concatenate([np.zeros(2), np.full(n_planes, 2.0)]),
        method="SLSQP",
        bounds=[(None, None)] * 2 + [(0, None)] * n_planes,
        constraints=constraints,
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    if model is TopMargin or seed > 0:
        assert objective(weights) == pytest.approx(best.fun, abs=1e-5)
    assert objective(weights) < 1.015 * best.fun  # a violated ranking may be missed by TopSlack


def _fitted(ranker: TopMargin, data: RankingData, lists: list[TopLists]) -> FloatArray:
    from analysis.models.cutting import cutting_planes

    return cutting_planes(ranker.risk(data, lists), 2, ranker.c, epsilon=ranker.epsilon)


def _planes(
    part: TopLists, row: int, data: RankingData, model: type[TopMargin]
) -> tuple[FloatArray, FloatArray]:
    """For every wrong ranking: slack >= height - plane . w."""
    count = int(part.filled[row].sum())
    features = data.features[part.rows[row]]
    depth = part.discounts.size
    orders = np.array(list(permutations(range(count))))[:, :depth]
    discounts = part.discounts[: orders.shape[1]]
    loss = 1.0 - part.gains[row][orders] @ discounts
    maps = np.einsum("p,opd->od", discounts, features[orders])
    true_map = part.discounts @ features[part.best[row]]
    wrong = loss > LEAST_LOSS
    plane, height = (true_map - maps)[wrong], loss[wrong]
    return (plane, height) if model is TopMargin else (plane * height[:, None], height)


def test_equal_labels_start_in_regressions_order_and_follow_the_model() -> None:
    labels = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    lists = one_query(labels, 3, "ndcg", 0)
    assert lists is not None
    again = lists.with_ties_by(np.array([0.1, 9.0, 0.3, 8.0, 0.2]))
    assert again.best[0].tolist() == [2, 4, 0]


def test_queries_without_a_wrong_ranking_are_left_out() -> None:
    data = RankingData(
        np.random.default_rng(0).random((8, 2)),
        np.array([0, 0, 1, 1, 1, 0, 2, 2.0]),
        np.array([0, 2, 4, 7, 8]),
    )
    assert sum(part.rows.shape[0] for part in top_lists(data, 5, "ndcg")) == 1
    with pytest.raises(BadData, match="less relevant"):
        TopMargin().fit(data.select([0, 1, 3]))
    with pytest.raises(BadData, match="n must be"):
        top_lists(data, 0, "ndcg")
    with pytest.raises(BadData, match="ndcg"):
        top_lists(data, 3, "map")  # type: ignore[arg-type]
    for wrong in ({"candidates": 0}, {"share": 0.0}, {"share": 1.5}):
        with pytest.raises(BadData, match="candidates"):
            TopRank(**wrong)


def test_precision_trains_as_well() -> None:
    rng = np.random.default_rng(3)
    features = rng.random((300, 4))
    labels = (features[:, 0] + 0.1 * rng.normal(size=300) > 0.7).astype(float)
    data = RankingData(features, labels, np.arange(0, 301, 15))
    for model in (TopMargin, TopSlack):
        scores = model(n=5, loss="precision").fit(data).predict(data)
        assert evaluate(data, scores, ["p@5"])["p@5"] > 0.65


def graded(seed: int, n_queries: int = 25) -> RankingData:
    rng = np.random.default_rng(seed)
    features = rng.random((n_queries * 12, 3))
    clean = features[:, 0] + 0.5 * features[:, 1] + 0.1 * rng.normal(size=features.shape[0])
    labels = np.digitize(clean, [0.8, 1.2]).astype(float)
    return RankingData(features, labels, np.arange(0, n_queries * 12 + 1, 12))


def test_toprank_weighs_votes_by_validation_and_keeps_the_base_behind_t() -> None:
    train, validation = graded(0), graded(1)
    model = TopRank(candidates=4).fit(train, validation)
    worths = [
        evaluate(validation, ranker.fit(train).predict(validation), ["ndcg@10"])["ndcg@10"]
        for ranker in (Regression(), RankSVM(), ListNet())
    ]
    np.testing.assert_allclose(model.votes_, np.array(worths) / sum(worths))
    np.testing.assert_allclose(TopRank().fit(train).votes_, 1.0 / 3.0)
    scores, base = model.predict(validation), validation.features @ model.base_
    for start in validation.offsets[:-1]:
        own, first = scores[start : start + 12], base[start : start + 12]
        assert np.argsort(-own)[4:].tolist() == np.argsort(-first, kind="stable")[4:].tolist()
        assert sorted(own.tolist()) == list(range(1, 13))


def test_toprank_follows_rerankers_that_agree() -> None:
    train = graded(0)
    model = TopRank(share=1.0).fit(train)
    model.others_ = np.repeat(model.others_[:1], 3, axis=0)
    scores, wanted = model.predict(train), train.features @ model.others_[0]
    for start in train.offsets[:-1]:
        span = slice(start, start + 12)
        assert np.argsort(-scores[span]).tolist() == np.argsort(-wanted[span]).tolist()


@pytest.fixture(scope="module")
def fold() -> Any:
    if not MQ2008.exists():
        pytest.skip("MQ2008 is not beside the checkout")
    return next(iter(read_folds(MQ2008)))


@pytest.mark.parametrize(("model", "seconds"), [(TopMargin, 4.0), (TopSlack, 4.0)])
def test_real_queries_are_learned_in_time(
    fold: Any, model: type[TopMargin], seconds: float
) -> None:
    start = time.perf_counter()
    ranker = model(rebreaks=0).fit(fold.train)
    assert time.perf_counter() - start < 3 * seconds  # other work may share the machine
    found = evaluate(fold.test, ranker.predict(fold.test), ["ndcg@10"])["ndcg@10"]
    assert found > 0.475


@pytest.mark.parametrize("model", [TopMargin, TopSlack])
def test_five_folds_reach_what_the_method_page_says(model: type[TopMargin]) -> None:
    if not MQ2008.exists():
        pytest.skip("MQ2008 is not beside the checkout")
    found = []
    for part in read_folds(MQ2008):
        ranker = model(c=10.0).fit(part.train)
        found.append(evaluate(part.test, ranker.predict(part.test), ["ndcg@10"])["ndcg@10"])
    assert np.mean(found) > 0.5045  # .508 and .507; rounding of other machines may move it

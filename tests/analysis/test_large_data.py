"""Features visited some rows at a time: the same results, and no copy of them in memory."""

from functools import partial

import numpy as np
import pytest

from tests.memory import peak_of
from topkapi.analysis.data import RankingData, normalise_by_query
from topkapi.analysis.data.keyed import shuffled
from topkapi.analysis.data.padding import query_spans, scores_of, slope_of
from topkapi.analysis.models import MODELS, Ranker
from topkapi.analysis.models.losses.pairs import (
    MarginLoss,
    logistic,
    make_pairs,
    pair_loss,
    squared_hinge,
)

FAST = {"rankboost": {"rounds": 3}, "adarank": {"rounds": 3}, "rankcosine": {"max_steps": 200}}


def graded(n_queries: int, n_features: int, seed: int = 0) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, size=n_queries)
    features = rng.random((int(sizes.sum()), n_features), dtype=np.float32)
    noise = rng.normal(size=features.shape[0])
    labels = np.digitize(features[:, 0] - features[:, 1] + 0.3 * noise, [0.0, 0.3, 0.6])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return RankingData(features, labels.astype(float), offsets)


@pytest.fixture
def short_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("topkapi.analysis.data.padding.ROWS", 64)
    monkeypatch.setattr("topkapi.analysis.models.losses.pairs.CHUNK", 2000)
    monkeypatch.setattr("topkapi.analysis.models.listmle.CELLS", 500)


def fitted(name: str, data: RankingData) -> Ranker:
    return MODELS[name](**FAST.get(name, {})).fit(data)


LINEAR = [
    *("regression", "ranksvm", "ranknet", "listnet", "listmle", "topk-listmle", "rankcosine"),
    *("svm-map", "focused-svm", "focused-net"),
]


@pytest.mark.parametrize("name", LINEAR)
def test_short_spans_change_no_model(name: str, request: pytest.FixtureRequest) -> None:
    data = graded(30, 4)
    whole = fitted(name, data).predict(data)
    request.getfixturevalue("short_spans")
    np.testing.assert_allclose(fitted(name, data).predict(data), whole, rtol=1e-4, atol=1e-5)


def test_short_spans_change_no_scaling_scores_and_slopes(request: pytest.FixtureRequest) -> None:
    data, weights = graded(30, 4), np.arange(4.0)
    scaled = normalise_by_query(data).features
    request.getfixturevalue("short_spans")
    np.testing.assert_array_equal(normalise_by_query(data).features, scaled)
    np.testing.assert_allclose(scores_of(data.features, weights), data.features @ weights)
    np.testing.assert_allclose(slope_of(data.features, data.labels), data.features.T @ data.labels)
    spans = list(query_spans(data.offsets))
    assert [span.start for span in spans[1:]] == [span.stop for span in spans[:-1]]
    assert all(data.offsets[span.stop] - data.offsets[span.start] <= 64 for span in spans)


@pytest.mark.parametrize("label_margin", [False, True])
@pytest.mark.parametrize("loss", [logistic, squared_hinge])
def test_dense_and_sparse_curvatures_agree(
    loss: MarginLoss, label_margin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, weights = graded(12, 4), np.array([1.0, -1.0, 0.5, 0.0])
    pairs = make_pairs(data, by_query=True)
    sparse = pair_loss(pairs, weights, loss, label_margin=label_margin)
    monkeypatch.setattr("topkapi.analysis.models.losses.pairs.DENSE", 0)
    for limit in (500_000, 50):  # also where a chunk ends within a query
        monkeypatch.setattr("topkapi.analysis.models.losses.pairs.CHUNK", limit)
        dense = pair_loss(pairs, weights, loss, label_margin=label_margin)
        for part in range(3):
            np.testing.assert_allclose(dense[part], sparse[part], atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "copies"),
    [
        *((name, 0.8) for name in ("regression", "ranksvm", "ranknet", "topk-listmle")),
        ("listnet", 1.8),  # queries with one label are left out
        ("rankboost", 3.2),  # as ListNet, in true order, and the order of each column
    ],
)
@pytest.mark.usefixtures("short_spans")
def test_memory_of_models_grows_by_no_copy_of_the_features(name: str, copies: float) -> None:
    small, large = graded(120, 150), graded(360, 150)
    few, many = (peak_of(partial(fitted, name, data)) for data in (small, large))
    assert many - few < copies * (large.features.nbytes - small.features.nbytes)


@pytest.mark.usefixtures("short_spans")
def test_scaling_shuffling_and_scoring_hold_one_copy_at_most() -> None:
    data = graded(250, 150)
    for change in (normalise_by_query, shuffled):
        assert peak_of(partial(change, data)) < 1.5 * data.features.nbytes
    assert peak_of(lambda: scores_of(data.features, np.ones(150))) < 0.2 * data.features.nbytes

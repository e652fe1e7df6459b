"""What every ranker promises, and the theory of top-k losses."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from topkapi.analysis.data import RankingData, full_order, to_topk
from topkapi.analysis.errors import BadData, DidNotConverge, NotFittedError, UnknownName
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.models import (
    MODELS,
    FocusedNet,
    ListMLE,
    TopKListMLE,
    load_model,
    model_class,
)
from topkapi.analysis.models.listmle import listmle_loss, ordered_blocks
from topkapi.analysis.models.listnet import listnet_loss, softmax_by_query
from topkapi.analysis.models.optimise.newton import newton
from topkapi.analysis.models.rankcosine import cosine_loss
from topkapi.analysis.typing import FloatArray

LEFT_OUT = (  # of `make test`: extras that it does not install, and the slow ones
    *("lightgbm", "xgboost", "top-slack", "toprank"),
)
QUICK: dict[str, dict[str, Any]] = {
    "lightgbm": {"trees": 10, "leaves": 4},
    "xgboost": {"trees": 10, "depth": 2},
    "rankboost": {"rounds": 30},
    "focused-boost": {"rounds": 30},
}
NAMES = [
    pytest.param(name, marks=pytest.mark.thorough) if name in LEFT_OUT else name for name in MODELS
]


def learnable(seed: int = 0, n_queries: int = 40, noise: float = 0.1) -> RankingData:
    """Make graded queries of 1 to 20 documents that follow the first two of five features."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 21, size=n_queries)
    features = rng.random((int(sizes.sum()), 5))
    clean = features[:, 0] + 0.5 * features[:, 1] + noise * rng.normal(size=features.shape[0])
    labels = np.digitize(clean, [0.8, 1.2]).astype(float)
    return RankingData(features, labels, np.concatenate([[0], np.cumsum(sizes)]))


@pytest.mark.parametrize("name", NAMES)
def test_every_model_learns_grades_and_short_topk_lists(name: str) -> None:
    test = learnable(1)
    random = np.random.default_rng(0).random(test.n_rows)
    floor = evaluate(test, random, ["ndcg@10"])["ndcg@10"]
    for train in (learnable(), to_topk(learnable(), 10)):  # half of the lists are under ten
        model = MODELS[name](**QUICK.get(name, {}))
        assert model.fit(train) is model
        scores = model.predict(test)
        assert scores.shape == (test.n_rows,)
        assert evaluate(test, scores, ["ndcg@10"])["ndcg@10"] > floor + 0.1


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_model_and_json_keeps_every_digit(
    name: str, tmp_path: Path
) -> None:
    data, validation = learnable(2, 12), learnable(3, 12)
    first = MODELS[name](**QUICK.get(name, {})).fit(data, validation)
    again = MODELS[name](**QUICK.get(name, {})).fit(data, validation)
    np.testing.assert_array_equal(first.predict(data), again.predict(data))
    first.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert type(loaded) is type(first)
    assert loaded.settings() == first.settings()
    np.testing.assert_array_equal(loaded.predict(data), first.predict(data))


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_float32_features_give_nearly_the_same_scores(name: str) -> None:
    data = learnable(4, 15)
    narrow = data.with_features(data.features.astype(np.float32))
    wide = MODELS[name](**QUICK.get(name, {})).fit(data).predict(data)
    found = MODELS[name](**QUICK.get(name, {})).fit(narrow).predict(narrow)
    if name.startswith("top-") or name in (
        *("rankboost", "focused-boost", "lightgbm", "xgboost", "svm-map", "focused-svm", "toprank"),
    ):
        assert np.corrcoef(wide, found)[0, 1] > 0.98  # a rounded value may cross a threshold
    else:
        np.testing.assert_allclose(found, wide, rtol=1e-3, atol=1e-3)


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_model_refuses_to_predict_before_fit_or_for_another_width(name: str) -> None:
    data = learnable(5, 10)
    model = MODELS[name](**QUICK.get(name, {}))
    with pytest.raises(NotFittedError):
        model.predict(data)
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")
    model.fit(data)
    with pytest.raises(BadData, match="5 features"):
        model.predict(data.with_features(data.features[:, :4]))


@pytest.mark.parametrize("name", NAMES)
def test_one_label_only_is_refused_or_gives_finite_scores(name: str) -> None:
    data = learnable(6, 10)
    flat = data.with_labels(np.zeros(data.n_rows))
    try:
        scores = MODELS[name](**QUICK.get(name, {})).fit(flat).predict(flat)
    except BadData as error:
        assert "preference" in str(error) or "relevant" in str(error)  # noqa: PT017
    else:
        assert np.isfinite(scores).all()


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_a_constant_feature_does_no_harm(name: str) -> None:
    data = learnable(7, 15)
    padded = data.with_features(np.hstack([data.features, np.full((data.n_rows, 1), 3.0)]))
    scores = MODELS[name](**QUICK.get(name, {})).fit(padded).predict(padded)
    assert np.isfinite(scores).all()
    assert evaluate(padded, scores, ["ndcg@10"])["ndcg@10"] > 0.8


@pytest.mark.parametrize("name", ["topk-listmle", "topk-listnet", "topk-rankcosine"])
def test_topk_forms_equal_the_full_forms_when_k_reaches_the_longest_list(name: str) -> None:
    data = full_order(learnable(8, 15))
    longest = int(data.sizes.max())
    even = data.with_labels(data.labels + np.repeat(longest - data.sizes, data.sizes))
    cut = MODELS[name](k=longest).fit(data).predict(data)
    whole = MODELS[name.removeprefix("topk-")]().fit(even).predict(data)
    np.testing.assert_allclose(cut, whole, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["ranksvm", "ranknet", "rankboost"])
def test_pairwise_models_with_k_learn_from_the_topk_truth(name: str) -> None:
    data = learnable(9, 15)
    settings = QUICK.get(name, {})
    inside = MODELS[name](k=3, seed=5, **settings).fit(data).predict(data)
    outside = MODELS[name](**settings).fit(to_topk(data, 3, seed=5)).predict(data)
    np.testing.assert_array_equal(inside, outside)
    full = full_order(data)
    longest = int(data.sizes.max())
    everything = MODELS[name](k=longest, **settings).fit(full).predict(data)
    np.testing.assert_allclose(everything, MODELS[name](**settings).fit(full).predict(data))


def test_beta_outside_zero_to_one_and_unknown_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="beta"):
        FocusedNet(beta=1.5)
    with pytest.raises(UnknownName, match="focused-net"):
        model_class("focused-nets")
    path = tmp_path / "broken.json"
    for text in ("{", "{}", json.dumps({"format": 99, "model": "ranknet"})):
        path.write_text(text)
        with pytest.raises(BadData, match=r"broken\.json"):
            load_model(path)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("ranknet", "l2"),
        ("listmle", "l2"),
        ("regression", "l2"),
        ("ranksvm", "c"),
        ("svm-map", "c"),
    ],
)
def test_settings_out_of_range_are_refused(name: str, setting: str) -> None:
    with pytest.raises(BadData, match="not -1"):
        MODELS[name](**{setting: -1.0}).fit(learnable(1, 5))


def permuted_likelihood(chances: dict[tuple[int, ...], float], model: ListMLE) -> FloatArray:
    """Find scores that minimise the expected loss over orders of three objects."""
    features, labels = [], []
    for order, chance in chances.items():
        for _ in range(round(chance * 10)):
            features.append(np.eye(3))
            labels.append([3.0 - order.index(item) for item in (1, 2, 3)])
    offsets = np.arange(len(labels) + 1) * 3
    data = RankingData(np.vstack(features), np.concatenate(labels), offsets)
    return model.fit(data).coef_


def test_proposition_10_of_xia_full_listmle_is_not_consistent_with_the_top_one_loss() -> None:
    chances: dict[tuple[int, ...], float] = {(1, 2, 3): 0.4, (2, 1, 3): 0.3, (3, 2, 1): 0.3}
    full = permuted_likelihood(chances, ListMLE(l2=1e-6))
    first = permuted_likelihood(chances, TopKListMLE(k=1, l2=1e-6))
    assert int(np.argmax(full)) == 1
    assert int(np.argmax(first)) == 0


def surrogate(name: str, scores: FloatArray, order: tuple[int, ...], k: int) -> float:
    n = len(order)
    labels = np.zeros(n)
    labels[list(order)] = [max(k - rank, 0) for rank in range(n)]
    data = RankingData(np.eye(n), labels, np.array([0, n]), topk=k)
    if name == "listmle":
        return listmle_loss(scores, ordered_blocks(data, k))[0]
    if name == "listnet":
        target, _ = softmax_by_query(labels, data.offsets)
        return listnet_loss(scores, data.features, target, data.offsets)[0]
    return cosine_loss(scores, data.features, labels, data.offsets)[0]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["listmle", "listnet", "cosine"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_topk_losses_are_topk_subgroup_order_sensitive(name: str, k: int) -> None:
    """Check Xia's Definition 3: symmetry, falling when a discordant pair is swapped."""
    rng = np.random.default_rng(k)
    n = 4
    for _ in range(5):
        scores = rng.random(n) + 0.1
        for i, j in permutations(range(n), 2):
            if scores[i] >= scores[j]:
                continue
            strict = False
            for order in permutations(range(n)):
                if order.index(i) > order.index(j):
                    continue
                swapped = tuple({i: j, j: i}.get(item, item) for item in order)
                before, after = (
                    surrogate(name, scores, order, k),
                    surrogate(name, scores, swapped, k),
                )
                turned = scores.copy()
                turned[[i, j]] = scores[[j, i]]
                assert surrogate(name, turned, swapped, k) == pytest.approx(before)
                if order[:k] == swapped[:k]:
                    assert before == pytest.approx(after)
                else:
                    assert before >= after - 1e-12
                    strict |= before > after + 1e-9
            assert strict


def test_newton_raises_when_its_steps_run_out_or_the_loss_is_not_finite() -> None:
    def bowl(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value = float(np.cosh(weights[0]))
        return value, np.sinh(weights), np.array([[value]])

    assert newton(bowl, np.array([2.0]), 0.0)[0] == pytest.approx(0.0, abs=1e-4)
    with pytest.raises(DidNotConverge, match="1 steps"):
        newton(bowl, np.array([2.0]), 0.0, max_steps=1)

    def broken(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return float("nan") if weights[0] else 1.0, np.ones(1), np.eye(1)

    with pytest.raises(DidNotConverge, match="lowers"):
        newton(broken, np.zeros(1), 0.0)

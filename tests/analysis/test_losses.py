"""Losses against plain loops over pairs and permutations, derivatives against differences."""

from collections.abc import Callable
from itertools import permutations
from math import exp, log

import numpy as np
import pytest

from tests.cases import each_case
from topkapi.analysis.data import RankingData, full_order, to_topk, truth_order
from topkapi.analysis.models.focused_net import FocusedNet, list_loss, make_lists
from topkapi.analysis.models.listmle import listmle_loss, ordered_blocks
from topkapi.analysis.models.listnet import listnet_loss, softmax_by_query
from topkapi.analysis.models.losses.pairs import (
    MarginLoss,
    hinge_risk,
    logistic,
    make_pairs,
    pair_loss,
    squared_hinge,
)
from topkapi.analysis.models.losses.permutations import permutation_loss, subset_chances
from topkapi.analysis.models.optimise.newton import Derivatives
from topkapi.analysis.models.rankcosine import cosine_loss
from topkapi.analysis.typing import FloatArray

D = 3


def random_data(seed: int, sizes: tuple[int, ...] = (4, 1, 7, 5), grades: int = 3) -> RankingData:
    """Make queries with ties, with one document, and (the last) with one label only."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, grades, size=sum(sizes)).astype(float)
    labels[-sizes[-1] :] = 0.0
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return RankingData(rng.normal(size=(sum(sizes), D)), labels, offsets)


def rows(data: RankingData) -> list[tuple[FloatArray, FloatArray]]:
    cuts = data.offsets[1:-1]
    return list(zip(np.split(data.features, cuts), np.split(data.labels, cuts), strict=True))


def check_derivatives(loss: Callable[[FloatArray], Derivatives], seed: int) -> None:
    weights = np.random.default_rng(seed).normal(size=D)
    _, gradient, hessian = loss(weights)
    for axis in range(D):
        step = np.zeros(D)
        step[axis] = 1e-5
        up, down = loss(weights + step), loss(weights - step)
        assert gradient[axis] == pytest.approx((up[0] - down[0]) / 2e-5, rel=1e-6, abs=1e-7)
        np.testing.assert_allclose(hessian[axis], (up[1] - down[1]) / 2e-5, rtol=1e-5, atol=1e-6)


MARGINS: dict[str, tuple[MarginLoss, Callable[[float], float]]] = {
    "logistic": (logistic, lambda m: log(1 + exp(-m))),
    "squared hinge": (squared_hinge, lambda m: max(0.0, 1 - m) ** 2),
}


@pytest.mark.parametrize("name", MARGINS)
@pytest.mark.parametrize("k", [None, 1, 3, 9])
@pytest.mark.parametrize("seed", range(4))
def test_pairwise_losses_are_sums_over_pairs_of_different_labels(
    name: str, k: int | None, seed: int
) -> None:
    data = random_data(seed)
    data = data if k is None else to_topk(data, k)
    margin_loss, plain = MARGINS[name]
    weights = np.random.default_rng(seed).normal(size=D)
    expected = sum(
        plain(float(weights @ (x[u] - x[v])))
        for x, y in rows(data)
        for u in range(len(y))
        for v in range(len(y))
        if y[u] > y[v]
    )
    pairs = make_pairs(data)
    assert pair_loss(pairs, weights, margin_loss)[0] == pytest.approx(expected)
    check_derivatives(lambda w: pair_loss(pairs, w, margin_loss), seed)


@pytest.mark.parametrize("limit", [1, 3, 10])
def test_visiting_pairs_in_chunks_changes_nothing(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = random_data(2)
    weights = np.random.default_rng(2).normal(size=D)
    whole = pair_loss(make_pairs(data), weights, logistic, label_margin=True)
    hinge = hinge_risk(weights, make_pairs(data))
    monkeypatch.setattr("topkapi.analysis.models.losses.pairs.CHUNK", limit)
    cut = pair_loss(make_pairs(data), weights, logistic, label_margin=True)
    for part in range(3):
        np.testing.assert_allclose(cut[part], whole[part])
    np.testing.assert_allclose(hinge_risk(weights, make_pairs(data))[1], hinge[1])


def test_pairs_weighted_by_query_sum_to_one_in_each_query_that_has_any() -> None:
    data = to_topk(random_data(0), 2)
    pairs = make_pairs(data, focused=True, by_query=True)
    totals = np.bincount(pairs.queries, pairs.weights * pairs.counts)
    np.testing.assert_allclose(totals, [1.0, 0.0, 1.0, 1.0])


@pytest.mark.parametrize("gaps", [False, True])
def test_hinge_is_its_loop_and_its_subgradient_supports_it(gaps: bool) -> None:
    data = random_data(2)
    pairs = make_pairs(data)
    rng = np.random.default_rng(0)
    weights = rng.normal(size=D)
    value, slope = hinge_risk(weights, pairs, label_margin=gaps)
    expected = sum(
        max(0.0, 1 - ((y[u] - y[v]) if gaps else 1.0) * float(weights @ (x[u] - x[v])))
        for x, y in rows(data)
        for u in range(len(y))
        for v in range(len(y))
        if y[u] > y[v]
    )
    assert value == pytest.approx(expected)
    for _ in range(20):
        other = rng.normal(size=D)
        assert hinge_risk(other, pairs, label_margin=gaps)[0] >= (
            value + slope @ (other - weights) - 1e-9
        )


@each_case("seed", range(4))
def test_listnet_is_the_cross_entropy_of_two_softmaxes(seed: int) -> None:
    data = random_data(seed)
    weights = np.random.default_rng(seed).normal(size=D)
    target, _ = softmax_by_query(data.labels, data.offsets)
    expected = 0.0
    for x, y in rows(data):
        p, q = np.exp(y) / np.exp(y).sum(), np.exp(x @ weights) / np.exp(x @ weights).sum()
        expected -= float(p @ np.log(q))

    def loss(w: FloatArray) -> Derivatives:
        return listnet_loss(w, data.features, target, data.offsets)

    assert loss(weights)[0] == pytest.approx(expected)
    check_derivatives(loss, seed)


def plain_listmle(data: RankingData, weights: FloatArray, k: int, seed: int) -> float:
    order = truth_order(data, seed)
    total = 0.0
    for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        scores = data.features[order[start:stop]] @ weights
        inside = stop - start if data.topk is None else int((data.labels[start:stop] > 0).sum())
        for j in range(min(k, inside)):
            total += log(float(np.exp(scores[j:]).sum())) - float(scores[j])
    return total


@pytest.mark.parametrize("k", [1, 3, 5, 20])
@pytest.mark.parametrize("topk", [False, True])
def test_topk_listmle_is_the_likelihood_of_the_first_k_places(k: int, topk: bool) -> None:
    data = to_topk(random_data(k), 3) if topk else random_data(k)
    parts = ordered_blocks(data, k, seed=4)
    weights = np.random.default_rng(k).normal(size=D)
    found = listmle_loss(weights, parts)[0]
    assert found == pytest.approx(plain_listmle(data, weights, k, seed=4))
    check_derivatives(lambda w: listmle_loss(w, parts), k)


def test_topk_listmle_with_k_at_the_length_is_listmle() -> None:
    data = full_order(random_data(1))
    weights = np.random.default_rng(1).normal(size=D)
    whole = listmle_loss(weights, ordered_blocks(data, None))
    cut = listmle_loss(weights, ordered_blocks(data, 7))
    for part in range(3):
        np.testing.assert_allclose(whole[part], cut[part])


def test_scores_too_far_apart_are_an_infinite_loss_not_a_nan() -> None:
    data = random_data(1)
    value, gradient, hessian = listmle_loss(np.full(D, 1e6), ordered_blocks(data, 3))
    assert value == np.inf
    assert np.isfinite(gradient).all()
    assert np.isfinite(hessian).all()


def luce(scores: FloatArray, order: tuple[int, ...]) -> float:
    powers = np.exp(scores[list(order)])
    return float(np.prod([powers[j] / powers[j:].sum() for j in range(len(order))]))


@pytest.mark.parametrize("size", [2, 4, 6])
def test_exact_listnet_equals_the_sum_over_all_permutations(size: int) -> None:
    rng = np.random.default_rng(size)
    scores = rng.normal(size=(3, size))
    labels = np.arange(size, 0, -1.0)
    values, gradients, hessians = permutation_loss(scores)
    orders = list(permutations(range(size)))
    for row in range(3):
        expected = -sum(luce(labels, order) * log(luce(scores[row], order)) for order in orders)
        assert values[row] == pytest.approx(expected)
    for axis in range(size):
        step = np.zeros(size)
        step[axis] = 1e-5
        up, down = permutation_loss(scores + step), permutation_loss(scores - step)
        np.testing.assert_allclose(gradients[:, axis], (up[0] - down[0]) / 2e-5, atol=1e-7)
        np.testing.assert_allclose(hessians[:, axis], (up[1] - down[1]) / 2e-5, atol=1e-7)


def test_subset_chances_do_not_change_under_a_shift_and_each_size_sums_to_one() -> None:
    chances = subset_chances(6)
    sizes = np.array([bin(subset).count("1") for subset in range(64)])
    for size in range(1, 7):
        assert chances[sizes == size].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("listwise", ["exact", "top1"])
@pytest.mark.parametrize("k", [2, 4])
def test_focused_net_has_true_derivatives_and_is_one_at_zero(listwise: str, k: int) -> None:
    data = to_topk(random_data(5, sizes=(5, 1, 8, 6)), k)
    pairs, lists = make_pairs(data, focused=True, by_query=True), make_lists(data)
    model = FocusedNet(k=k, beta=0.3, listwise=listwise)  # type: ignore[arg-type]
    check_derivatives(lambda w: model.loss(w, pairs, lists), 0)
    assert model.loss(np.zeros(D), pairs, lists)[0] == pytest.approx(3.0)  # query 2 has no term


def test_focused_net_at_the_ends_is_ranknet_on_p_and_listnet_on_t() -> None:
    data = to_topk(random_data(6), 3)
    pairs, lists = make_pairs(data, focused=True, by_query=True), make_lists(data)
    weights = np.random.default_rng(0).normal(size=D)
    ends = [FocusedNet(k=3, beta=beta).loss(weights, pairs, lists) for beta in (0.0, 1.0)]
    ranknet = pair_loss(pairs, weights, logistic)
    listnet = [list_loss(weights, group, exact=True) for group in lists]
    for part in range(3):
        np.testing.assert_allclose(ends[0][part], ranknet[part] / log(2))
        np.testing.assert_allclose(ends[1][part], sum(found[part] for found in listnet))


def test_cosine_loss_is_half_one_minus_the_cosine_and_has_its_gradient() -> None:
    data = random_data(3)
    weights = np.random.default_rng(3).normal(size=D)
    expected = 0.0
    for x, y in rows(data):
        scores = x @ weights
        norm = float(np.linalg.norm(y) * np.linalg.norm(scores))
        expected += 0.5 * (1 - float(y @ scores) / norm) if norm else 0.5

    def value(w: FloatArray) -> float:
        return cosine_loss(w, data.features, data.labels, data.offsets)[0]

    found, gradient = cosine_loss(weights, data.features, data.labels, data.offsets)
    assert found == pytest.approx(expected)
    for axis in range(D):
        step = np.zeros(D)
        step[axis] = 1e-6
        slope = (value(weights + step) - value(weights - step)) / 2e-6
        assert gradient[axis] == pytest.approx(slope, abs=1e-7)

"""Cutting planes and SVM-MAP against enumeration."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize

from tests.cases import each_case
from topkapi.analysis.data import RankingData, to_topk
from topkapi.analysis.models.focused_svm import FocusedSVM, prefix_halves, slack_at_zero
from topkapi.analysis.models.losses.pairs import hinge_risk, make_pairs
from topkapi.analysis.models.optimise.cutting_planes import cutting_planes, simplex_qp
from topkapi.analysis.models.ranksvm import RankSVM
from topkapi.analysis.models.svm_map import SVMMAP, map_slack, split_halves
from topkapi.analysis.typing import FloatArray


def average_precision(ranked: list[bool]) -> float:
    places = [rank for rank, hit in enumerate(ranked, start=1) if hit]
    return sum(i / rank for i, rank in enumerate(places, start=1)) / len(places)


def enumerated_slack(relevant: list[bool], scores: FloatArray) -> float:
    """Find the largest 1 - AP(z) + psi(z) - psi(y) over every ranking z of one query."""
    good = [i for i, hit in enumerate(relevant) if hit]
    rest = [i for i, hit in enumerate(relevant) if not hit]
    best = 0.0
    for order in permutations(range(len(relevant))):
        place = {document: rank for rank, document in enumerate(order)}
        psi = sum(
            (1 if place[u] < place[v] else -1) * (scores[u] - scores[v]) for u in good for v in rest
        )
        ideal = sum(scores[u] - scores[v] for u in good for v in rest)
        loss = 1 - average_precision([relevant[document] for document in order])
        best = max(best, loss + (psi - ideal) / (len(good) * len(rest)))
    return float(best)


@each_case("seed", range(12))
def test_the_most_violated_ranking_equals_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.integers(2, 7, size=3)]
    relevant = [rng.random(size) < 0.5 for size in sizes]
    for flags in relevant:
        flags[0], flags[-1] = True, False
    scores = rng.normal(size=sum(sizes)) * rng.choice([0.2, 1.0, 3.0])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    labels = np.concatenate(relevant).astype(float)
    halves = split_halves(labels, offsets, np.ones(3))
    pull = np.zeros(scores.size)
    found = sum(map_slack(scores, part, pull) for part in halves)
    parts = np.split(scores, offsets[1:-1])
    expected = sum(
        enumerated_slack(list(map(bool, flags)), part)
        for flags, part in zip(relevant, parts, strict=True)
    )
    assert found == pytest.approx(expected)
    for axis in range(scores.size):  # the slack is piecewise linear: its slope is exact
        step = np.zeros(scores.size)
        step[axis] = 1e-7
        up = sum(map_slack(scores + step, part, np.zeros(scores.size)) for part in halves)
        down = sum(map_slack(scores - step, part, np.zeros(scores.size)) for part in halves)
        assert pull[axis] == pytest.approx((up - down) / 2e-7, abs=1e-6)


def test_simplex_qp_reaches_the_optimum_of_a_general_solver() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 5, 12):
        planes = rng.normal(size=(size, 4))
        heights = rng.normal(size=size)
        start = np.zeros(size)
        start[0] = 2.0
        found = simplex_qp(planes @ planes.T, heights, start)
        assert found.sum() == pytest.approx(2.0)
        assert found.min() >= 0

        def value(shares: FloatArray, p: FloatArray = planes, h: FloatArray = heights) -> float:
            return 0.5 * float((shares @ p) @ (shares @ p)) - float(h @ shares)

        best = minimize(  # type: ignore[call-overload]
            value,
            np.full(size, 2.0 / size),
            method="SLSQP",
            bounds=[(0, None)] * size,
            constraints={"type": "eq", "fun": lambda shares: shares.sum() - 2.0},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert value(found) <= best.fun + 1e-7


def small_data(seed: int, grades: int = 3) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = np.array([6, 9, 5, 1])
    features = rng.normal(size=(int(sizes.sum()), 3))
    labels = rng.integers(0, grades, size=int(sizes.sum())).astype(float)
    return RankingData(features, labels, np.concatenate([[0], np.cumsum(sizes)]))


def test_hinge_ranksvm_is_within_epsilon_of_the_quadratic_programme() -> None:
    data = small_data(2)
    pairs = make_pairs(data)
    (chunk,) = pairs.chunks()
    differences = pairs.features[chunk.better] - pairs.features[chunk.worse]
    c, d, m = 0.5, 3, differences.shape[0]
    programme = minimize(  # type: ignore[call-overload]
        lambda z: 0.5 * float(z[:d] @ z[:d]) + c * float(z[d:].sum()),
        np.concatenate([np.zeros(d), np.ones(m)]),
        jac=lambda z: np.concatenate([z[:d], np.full(m, c)]),
        method="SLSQP",
        bounds=[(None, None)] * d + [(0, None)] * m,
        constraints={"type": "ineq", "fun": lambda z: differences @ z[:d] + z[d:] - 1.0},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    weights = RankSVM(c=c, loss="hinge", epsilon=1e-6).fit(data).coef_
    reached = 0.5 * float(weights @ weights) + c * hinge_risk(weights, pairs)[0]
    assert reached == pytest.approx(programme.fun, rel=1e-4)


def test_squared_hinge_with_label_margins_asks_least_of_large_gaps() -> None:
    data = small_data(3)
    plain = RankSVM(c=1.0).fit(data).coef_
    printed = RankSVM(c=1.0, label_margin=True).fit(data).coef_
    assert np.linalg.norm(printed) < np.linalg.norm(plain)


def test_prefix_slack_is_one_at_zero_for_every_list_and_equals_enumeration() -> None:
    data = to_topk(small_data(4), 4)
    halves = prefix_halves(data)
    zero = np.zeros(data.n_rows)
    assert sum(map_slack(zero, part, zero.copy()) for part in halves) == pytest.approx(3.0)
    scores = np.random.default_rng(0).normal(size=data.n_rows)
    expected = 0.0
    for start, size in zip(data.offsets[:-1], data.sizes, strict=True):
        m = min(int(size), 4)  # rows are numbered in true order
        for cut in range(1, m):
            slack = enumerated_slack([i < cut for i in range(m)], scores[start : start + m])
            expected += slack / ((m - 1) * slack_at_zero(m))
    assert sum(map_slack(scores, part, np.zeros(scores.size)) for part in halves) == pytest.approx(
        expected
    )


def test_focused_svm_at_zero_is_hinge_ranksvm_on_the_pairs_of_t_and_f() -> None:
    data = to_topk(small_data(5), 3)
    focused = FocusedSVM(k=3, beta=0.0, c=20.0, epsilon=1e-6).fit(data).coef_
    binary = data.with_labels(np.minimum(data.labels, 1.0))
    parent = RankSVM(c=20.0 / data.n_queries, loss="hinge", by_query=True, epsilon=1e-7)
    np.testing.assert_allclose(focused, parent.fit(binary).coef_, atol=5e-3)


def test_focused_svm_at_one_is_svm_map_within_t() -> None:
    data = to_topk(small_data(6), 2)  # |T| = 2: one cut, plain SVM-MAP on two documents
    keep = data.labels > 0
    sizes = np.add.reduceat(keep.astype(int), data.offsets[:-1])
    lists = RankingData(
        data.features[keep], data.labels[keep] - 1.0, np.concatenate([[0], np.cumsum(sizes)])
    )
    focused = FocusedSVM(k=2, beta=1.0, c=5.0, epsilon=1e-7).fit(data).coef_
    parent = SVMMAP(c=5.0 / slack_at_zero(2), epsilon=1e-7).fit(lists).coef_
    np.testing.assert_allclose(focused, parent, atol=5e-3)


def test_cutting_planes_of_a_plain_absolute_value() -> None:
    def risk(weights: FloatArray) -> tuple[float, FloatArray]:
        return abs(float(weights[0]) - 1.0), np.array([np.sign(weights[0] - 1.0)])

    assert cutting_planes(risk, 1, 0.25, epsilon=1e-9)[0] == pytest.approx(0.25)
    assert cutting_planes(risk, 1, 9.0, epsilon=1e-9)[0] == pytest.approx(1.0)

"""DCGLearn: its optimum against general solvers, its forms, its files, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.optimize import LinearConstraint

from tests.cases import each_case
from topkapi.analysis.dcglearn import (
    DCGLearn,
    ListPreferences,
    accuracy,
    centred_similarity,
    load_gains,
    t_similarity,
)
from topkapi.analysis.dcglearn.gains import rank_one, utilities
from topkapi.analysis.dcglearn.replication.simulated import random_pairs, true_gains
from topkapi.analysis.dcglearn.solver import GainProblem, penalty_matrix, solve
from topkapi.analysis.errors import BadData, NotFittedError
from topkapi.analysis.typing import FloatArray

minimize: Any = optimize.minimize  # its stubs do not know jac=True with a lambda


def noisy_preferences(n: int, k: int, n_grades: int, seed: int) -> ListPreferences:
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, n_grades, (2, n, k))
    return ListPreferences(left, right, rng.integers(-2, 3, n), n_grades)


def printed_objective(
    weights: FloatArray, pairs: ListPreferences, c: float, c_ties: float
) -> tuple[float, FloatArray]:
    """Solve equations (1), (6) and (7) over w (K L,) itself, one-hot as in section 4.2."""
    spots = np.arange(pairs.n_grades)
    hot = (pairs.left[:, :, None] == spots).astype(float) - (pairs.right[:, :, None] == spots)
    rows = hot.reshape(len(pairs), -1)
    margins = rows @ weights
    signs = np.sign(pairs.answers)
    short = np.where(signs == 0, 0.0, np.maximum(0.0, 1.0 - signs * margins))
    over = np.where(signs == 0, np.sign(margins) * np.maximum(0.0, np.abs(margins) - 1.0), 0.0)
    value = weights @ weights + c * short @ short + c_ties * over @ over
    gradient = 2 * weights - 2 * c * rows.T @ (signs * short) + 2 * c_ties * rows.T @ over
    return float(value), gradient


@pytest.mark.parametrize("c_ties", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_the_printed_problem_has_the_optimum_a_general_solver_finds(
    seed: int, c_ties: float
) -> None:
    pairs = noisy_preferences(40, 3, 4, seed)
    model = DCGLearn(c=0.8, c_ties=c_ties, penalty="weights").fit(pairs)
    order = np.zeros((3 * 3, 12))  # equation (3): a better grade weighs at least as much
    for row, (position, grade) in enumerate((i, j) for i in range(3) for j in range(3)):
        order[row, 4 * position + grade + 1] = 1.0
        order[row, 4 * position + grade] = -1.0
    found = minimize(
        lambda w: printed_objective(w, pairs, 0.8, c_ties),
        np.zeros(12),
        jac=True,
        method="SLSQP",
        constraints=[{"type": "ineq", "fun": lambda w: order @ w, "jac": lambda _w: order}],
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    ours, _ = printed_objective(model.weights_.ravel(), pairs, 0.8, c_ties)
    assert ours == pytest.approx(found.fun, abs=1e-6)
    assert ours <= found.fun + 1e-9
    np.testing.assert_allclose(model.weights_.ravel(), found.x, atol=1e-5)
    assert LinearConstraint(order, 0, np.inf).residual(model.weights_.ravel())[0].min() > -1e-12


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), c=st.sampled_from([0.001, 1.0, 1e4]), data=st.data())
def test_optimality_holds_on_any_preferences(seed: int, c: float, data: st.DataObject) -> None:
    k, n_grades = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 5))
    pairs = noisy_preferences(data.draw(st.integers(1, 60)), k, n_grades, seed)
    gram = penalty_matrix(k, n_grades, data.draw(st.sampled_from(["steps", "weights"])))
    problem = GainProblem(pairs.preferred, pairs.differences[pairs.tied], gram, c, c / 2)
    steps = solve(problem)
    _, gradient, short, over = problem.value(steps)
    scaled = gradient / np.diag(problem.curvature(short, over))
    np.testing.assert_allclose(np.maximum(steps - scaled, 0.0), steps, atol=1e-6)


@pytest.mark.parametrize(("data", "n"), [(1, 800), (2, 800), (1, 5000)])
def test_many_pairs_take_few_newton_steps(data: int, n: int) -> None:
    pool = random_pairs(n, true_gains(data).table, np.random.default_rng(1))
    rows = pool.differences * pool.signs[:, None]
    problem = GainProblem(rows, rows[:0], penalty_matrix(10, 5, "steps"), 5.0, 0.0)
    found = solve(problem, max_steps=20)  # raises if more than 20 are needed; 12 are
    learned = DCGLearn().fit_differences(rows, rows[:0], k=10, n_grades=5)
    np.testing.assert_allclose(learned.steps_, found)


def test_a_warm_start_ends_at_the_same_weights() -> None:
    pool = random_pairs(100, true_gains(1).table, np.random.default_rng(1))
    rows = pool.differences * pool.signs[:, None]
    cold = DCGLearn().fit_differences(rows, rows[:0], k=10, n_grades=5)
    start = np.random.default_rng(0).random(40)
    warm = DCGLearn().fit_differences(rows, rows[:0], k=10, n_grades=5, start=start)
    np.testing.assert_allclose(warm.weights_, cold.weights_, atol=1e-8)


def test_ties_draw_tied_lists_together_and_cost_no_accuracy() -> None:
    truth = true_gains(1).table
    rng = np.random.default_rng(5)
    pool, test = random_pairs(800, truth, rng), random_pairs(3000, truth, rng)
    felt = pool.gaps + rng.standard_normal(800)  # people are unsure where a tie begins
    answers = np.where(np.abs(felt) < 1.0, 0, np.sign(felt)).astype(np.int64)
    pairs = ListPreferences(pool.left, pool.right, answers, 5)
    tied = pairs.select(pairs.tied)
    models = [DCGLearn(c=0.5, c_ties=c).fit(pairs) for c in (0.0, 0.05, 0.5, 5.0)]
    differences = [float(np.abs(model.margins(tied)).mean()) for model in models]
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < 0.85 * differences[0]
    shares = [accuracy(test.differences @ model.steps_, test.signs) for model in models]
    assert min(shares) > shares[0] - 0.01
    assert max(shares[1:]) >= shares[0]


def test_left_and_right_may_change_places() -> None:
    pairs = noisy_preferences(60, 4, 3, 9)
    swapped = ListPreferences(pairs.right, pairs.left, -pairs.answers, 3)
    first, second = DCGLearn(c_ties=1.0).fit(pairs), DCGLearn(c_ties=1.0).fit(swapped)
    np.testing.assert_allclose(first.weights_, second.weights_, atol=1e-9)


def test_gains_and_discounts_of_an_outer_product_are_its_factors() -> None:
    truth = true_gains(2)
    found, share = rank_one(truth.table - truth.table[:, :1])
    whole = truth.discounts.sum()
    np.testing.assert_allclose(found.discounts, truth.discounts / whole)
    np.testing.assert_allclose(found.gains, (truth.gains - 1.0) * whole, atol=1e-12)
    assert share == pytest.approx(1.0)


def test_discounts_sum_to_1_also_without_weight_at_the_first_position() -> None:
    found, _ = rank_one(np.array([[0.0, 0.0], [0.0, 4.0], [0.0, 2.0]]))
    assert found.discounts.tolist() == pytest.approx([0.0, 2 / 3, 1 / 3])
    assert found.gains.tolist() == pytest.approx([0.0, 6.0])


def test_offsets_change_no_similarity_that_ignores_them() -> None:
    truth = true_gains(2).table
    by_position = truth + np.arange(10.0)[:, None]
    assert t_similarity(truth, by_position) == pytest.approx(1.0)
    assert centred_similarity(truth, by_position + 3.0 * np.arange(5.0)) == pytest.approx(1.0)
    assert t_similarity(truth, by_position + 30.0 * np.arange(5.0)) < 0.9
    assert t_similarity(truth, np.zeros((10, 5))) == 0.0


def test_a_saved_model_comes_back_whole(tmp_path: Path) -> None:
    pairs = noisy_preferences(60, 4, 3, 1)
    model = DCGLearn(c=2.0, c_ties=0.5, penalty="weights").fit(pairs)
    model.save(tmp_path / "learned.json")
    again = DCGLearn.load(tmp_path / "learned.json")
    assert again.weights_.tobytes() == model.weights_.tobytes()
    assert again.steps_.tobytes() == model.steps_.tobytes()
    assert (again.c, again.c_ties, again.penalty) == (2.0, 0.5, "weights")
    np.testing.assert_array_equal(again.predict(pairs), model.predict(pairs))
    gains = load_gains(tmp_path / "learned.json")
    assert gains.gains.tolist() == model.gains_.gains.tolist()
    assert gains.discounts.tolist() == model.gains_.discounts.tolist()
    model.gains_.save(tmp_path / "gains.json")
    assert load_gains(tmp_path / "gains.json").as_json() == gains.as_json()


@each_case(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"gains": [1, "x"], "discounts": [1]}',
        '{"gains": [2, 1], "discounts": [1]}',
        '{"gains": [0, 1], "discounts": [-1]}',
        '{"gains": [0, 1e999], "discounts": [1]}',
        '{"format": 9, "gains": [0, 1], "discounts": [1]}',
    ],
)
def test_a_file_without_gains_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(BadData, match=r"bad\.json|gains|discount"):
        load_gains(path)
    with pytest.raises(BadData, match=r"bad\.json"):
        DCGLearn.load(path)


def test_a_model_whose_parts_do_not_fit_is_refused(tmp_path: Path) -> None:
    model = DCGLearn().fit(noisy_preferences(60, 4, 3, 1))
    document = model.as_json() | {"steps": [1.0]}
    (tmp_path / "torn.json").write_text(json.dumps(document))
    with pytest.raises(BadData, match=r"torn\.json"):
        DCGLearn.load(tmp_path / "torn.json")


def test_what_cannot_be_learned_from_is_refused() -> None:
    lists = np.array([[1, 0], [0, 1]])
    with pytest.raises(BadData, match="nothing to learn"):
        DCGLearn().fit(ListPreferences(lists[:0], lists[:0], np.zeros(0, dtype=int), 2))
    with pytest.raises(BadData, match="nothing to learn"):
        DCGLearn().fit(ListPreferences(lists, lists[::-1], np.zeros(2, dtype=int), 2))
    with pytest.raises(BadData, match="nothing to learn"):
        DCGLearn().fit(ListPreferences(lists, lists, np.ones(2, dtype=int), 2))
    with pytest.raises(BadData, match="contradict"):
        DCGLearn().fit(ListPreferences(np.array([[0]]), np.array([[1]]), np.array([1]), 2))
    for setting in ({"c": 0.0}, {"c": float("nan")}, {"c_ties": -1.0}):
        with pytest.raises(BadData, match="C "):
            DCGLearn(**setting)  # type: ignore[arg-type]
    with pytest.raises(BadData, match="penalty"):
        DCGLearn(penalty="w").fit(  # type: ignore[arg-type]
            ListPreferences(lists, lists[::-1], np.ones(2, dtype=int), 2)
        )
    with pytest.raises(NotFittedError):
        DCGLearn().utility(lists)


def test_preferences_of_wrong_shape_or_grade_are_refused() -> None:
    lists, answers = np.array([[1, 0], [0, 1]]), np.array([1, -1])
    for left, right, said, n_grades, word in (
        (lists, lists[:1], answers, 2, "left"),
        (lists, lists, answers[:1], 2, "answers"),
        (lists, lists, np.array([3, 0]), 2, "answer"),
        (lists + 1, lists, answers, 2, "grade"),
        (lists - 1, lists, answers, 2, "grade"),
        (lists, lists, answers, 1, "grades"),
        (lists[:, :0], lists[:, :0], answers, 2, "left"),
    ):
        with pytest.raises(BadData, match=word):
            ListPreferences(left, right, said, n_grades)
    with pytest.raises(BadData, match="K must be"):
        ListPreferences.of_lists([[1]], [[0]], [1], n_grades=2, k=0)
    with pytest.raises(BadData, match="rankings must be"):
        DCGLearn().fit(noisy_preferences(9, 2, 3, 0)).utility(np.zeros((1, 3), dtype=int))


def test_ungraded_and_missing_documents_count_as_the_worst_and_are_counted() -> None:
    pairs = ListPreferences.of_lists([[2, -1, 1], []], [[0, 1, -1], [2]], [1, -2], n_grades=3, k=3)
    assert pairs.left.tolist() == [[2, 0, 1], [0, 0, 0]]
    assert pairs.right.tolist() == [[0, 1, 0], [2, 0, 0]]
    assert (pairs.ungraded, pairs.padded) == (2, 5)
    assert pairs.strong.tolist() == [False, True]


def test_predictions_follow_the_margins_and_equal_lists_are_even() -> None:
    pairs = noisy_preferences(60, 4, 3, 1)
    model = DCGLearn().fit(pairs)
    np.testing.assert_allclose(model.margins(pairs), pairs.differences @ model.steps_, atol=1e-9)
    same = ListPreferences(pairs.left, pairs.left, pairs.answers, 3)
    assert not model.predict(same).any()
    assert accuracy(model.margins(same), np.ones(60, dtype=int)) == 0.5
    assert np.isnan(accuracy(np.zeros(0), np.zeros(0, dtype=int)))


def test_utility_is_dcg_where_gains_do_not_depend_on_position() -> None:
    truth = true_gains(2)
    grades = np.array([[4, 0, 1, 2, 3, 4, 0, 1, 2, 3]])
    by_hand = sum(truth.gains[grade] / np.log(place + 2) for place, grade in enumerate(grades[0]))
    assert utilities(truth.table, grades)[0] == pytest.approx(by_hand)

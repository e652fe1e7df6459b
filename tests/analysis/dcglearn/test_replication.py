"""Simulated studies: the accuracies learned gains reach, clean, noisy, tied and active."""

from pathlib import Path

import numpy as np
import pytest

from bench.list_experiment import ListExperiment, accuracy_by_judgments, judgments_needed
from topkapi.analysis.data import RankingData
from topkapi.analysis.dcglearn import DCGLearn, by_uncertainty, usual_gains
from topkapi.analysis.dcglearn.active import label_actively
from topkapi.analysis.dcglearn.replication.coherence import coherence
from topkapi.analysis.dcglearn.replication.curves import Curves
from topkapi.analysis.dcglearn.replication.figures import (
    by_difference,
    by_training_size,
    learn,
    similarities,
    with_noise,
    with_the_best,
)
from topkapi.analysis.dcglearn.replication.letor_figures import QueryPool
from topkapi.analysis.dcglearn.replication.simulated import permuted, random_pairs, true_gains
from topkapi.analysis.dcglearn.solver import Penalty
from topkapi.analysis.errors import BadData


@pytest.mark.parametrize(
    ("data", "expected"), [(1, (0.80, 0.92, 0.95, 0.985)), (2, (0.78, 0.90, 0.94, 0.981))]
)
def test_accuracy_by_training_pairs(data: int, expected: tuple[float, ...]) -> None:
    curve = by_training_size(data, 30, 1, sizes=(20, 100, 200, 800))
    found = np.array(curve.lines["DCGLearn"])
    assert (found > np.array(expected) - 0.015).all()  # from 20 pairs it does better than expected
    assert found[1:] == pytest.approx(expected[1:], abs=0.015)
    other = curve.lines["Other"][0]
    assert other == pytest.approx(0.90, abs=0.01)
    assert curve.lines["DCGLearn"][-1] > other + 0.07


@pytest.mark.parametrize("data", [1, 2])
def test_learned_gains_win_most_where_lists_are_close(data: int) -> None:
    lines = by_difference(data, 1, 1).lines
    lead = np.array(lines["DCGLearn"]) - np.array(lines["Other"])
    assert lead[0] > 0.15
    assert abs(lead[-1]) < 0.01


def test_a_quarter_of_the_preferences_turned_round_is_survived() -> None:
    curve = with_noise("pairs", 3, 1, amounts=(5, 200))
    assert min(curve.lines["Data 1"][0], curve.lines["Data 2"][0]) > 0.95
    assert curve.lines["Data 1"][1] > 0.90 - 0.015
    assert curve.lines["Data 2"][1] > 0.88 - 0.015


def test_weights_are_found_up_to_what_the_pairs_leave_open() -> None:
    curve = similarities(2, 1, sizes=(100, 800))
    for data in (1, 2):
        assert curve.lines[f"centred, Data {data}"][-1] == pytest.approx(0.997, abs=0.003)
        assert curve.lines[f"T, Data {data}"][-1] > 0.85


@pytest.mark.parametrize(
    ("penalty", "least", "most"), [("weights", (0.59, 0.63), (0.69, 0.73)), ("steps", 0.64, 0.77)]
)
def test_pairs_with_the_best_ranking_teach_nothing_however_many(
    penalty: Penalty, least: float | tuple[float, float], most: float | tuple[float, float]
) -> None:
    """Check that the penalty decides the result; 12 runs with standard deviation .04."""
    curve = with_the_best(12, 9, other_documents=False, sizes=(20, 800), penalty=penalty)
    ends = np.array([line[1] for line in curve.lines.values()])
    assert (np.array(least) < ends).all()
    assert (ends < np.array(most)).all()
    for line in curve.lines.values():
        assert line[1] < line[0] + 0.05  # random pairs rise by .18


@pytest.mark.parametrize("data", [1, 2])
def test_active_lists_need_at_most_six_tenths_of_the_judgments(data: int) -> None:
    curve = accuracy_by_judgments(ListExperiment(), data, runs=3, sizes=range(20, 441, 20))
    active, random = (judgments_needed(curve, line) for line in ("active", "random"))
    assert active < 0.6 * random
    assert active < 200


def test_active_lists_stay_ahead_with_ties_and_errors() -> None:
    study = ListExperiment(same_below=0.2, error=0.05)
    curve = accuracy_by_judgments(study, 1, runs=2, sizes=(100, 200, 300))
    assert all(np.array(curve.lines["active"]) > np.array(curve.lines["random"]) + 0.02)


def test_a_line_that_never_arrives_needs_infinitely_many() -> None:
    curve = Curves("", "", "", (10.0, 20.0), {"low": (0.5, 0.6), "high": (0.97, 0.98)})
    assert judgments_needed(curve, "low") == float("inf")
    assert judgments_needed(curve, "high") == 10.0


def test_active_learning_asks_no_pair_twice_and_begins_as_random_does() -> None:
    pool = random_pairs(60, true_gains(1).table, np.random.default_rng(0))
    order = label_actively(
        DCGLearn(), pool.differences, pool.signs, shape=pool.shape, n_labels=100, seed=4, start=10
    )
    assert sorted(order.tolist()) == list(range(60))
    first = by_uncertainty(None, pool.differences, 4)
    assert order[:10].tolist() == first[:10].tolist()


def test_the_least_certain_pair_comes_first_and_equal_lists_last() -> None:
    pool = random_pairs(50, true_gains(1).table, np.random.default_rng(0))
    model = learn(pool)
    rows = np.vstack([np.zeros(40), pool.differences])
    order = by_uncertainty(model, rows, 1)
    assert order[-1] == 0
    margins = np.abs(rows @ model.steps_)[order[:-1]]
    assert (np.diff(margins) >= 0).all()


def test_the_two_usual_settings_disagree_about_a_tenth_of_pairs_most_where_they_are_close() -> None:
    found = coherence(true_gains(2), true_gains(1), n_pairs=40_000)
    assert found.agree == pytest.approx(0.9004, abs=0.006)
    shares = found.curve.lines["agree"]
    assert shares[0] < 0.65
    assert shares[-1] > 0.99
    with pytest.raises(BadData, match="5 grades"):
        coherence(usual_gains(3, 10), usual_gains(3, 10))
    with pytest.raises(BadData, match="positions"):
        coherence(usual_gains(5, 11), usual_gains(5, 11))


def test_rankings_of_documents_are_permutations_of_them() -> None:
    grades = np.array([2, 1, 1, 0])
    found = permuted(grades, 50, np.random.default_rng(0))
    assert (np.sort(found, axis=1) == np.sort(grades)).all()


def test_curves_are_written_as_table_csv_json_and_picture(tmp_path: Path) -> None:
    curve = Curves("2", "Accuracy", "pairs", (20.0, 100.0), {"a": (0.5, 0.75), "b": (1.0, 0.0)})
    assert curve.as_csv() == "pairs,a,b\n20,0.5000,1.0000\n100,0.7500,0.0000\n"
    assert curve.as_json()["lines"] == {"a": [0.5, 0.75], "b": [1.0, 0.0]}
    assert "0.750" in curve.as_text()
    curve.draw(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")


def test_short_queries_are_padded_and_odd_labels_refused() -> None:
    labels = np.tile([2.0, 1.0, 0.0], 5)
    data = RankingData(np.ones((15, 1)), labels, np.arange(0, 16, 3))
    pool = QueryPool(data)
    assert pool.padded == 5 * 7
    pairs = pool.pairs(30, np.arange(5), np.random.default_rng(0))
    assert not pairs.left[:, 3:].any()
    with pytest.raises(BadData, match="grades"):
        QueryPool(data.with_labels(labels + 0.5))
    with pytest.raises(BadData, match="queries"):
        QueryPool(data.select([0, 1]))
    with pytest.raises(BadData, match="queries"):
        QueryPool(data.with_labels(np.zeros(15)))

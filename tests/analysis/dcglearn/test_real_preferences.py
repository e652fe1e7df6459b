"""Real answers: files, folds, intervals, and the report on image-search preferences."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cases import each_case
from topkapi.analysis.dcglearn import DCGLearn, ListPreferences, learn_gains
from topkapi.analysis.dcglearn.files import (
    cut_scores,
    even_cuts,
    graded_preferences,
    read_list_preferences,
    read_scores,
)
from topkapi.analysis.dcglearn.intervals import bootstrap_intervals, shares_of_best
from topkapi.analysis.dcglearn.replication.simulated import random_pairs, true_gains
from topkapi.analysis.dcglearn.validation import (
    by_training_size,
    choose_c,
    cross_validate,
    fold_numbers,
    tie_sweep,
    usual_margins,
)
from topkapi.analysis.errors import BadData


def simulated_answers(n: int, data: int, seed: int, noise: float = 1.0) -> ListPreferences:
    """Simulate five-point answers by known gains with noise."""
    rng = np.random.default_rng(seed)
    pool = random_pairs(n, true_gains(data).table, rng)
    felt = pool.gaps / pool.gaps.std() + noise * 0.3 * rng.standard_normal(n)
    answers = np.select([np.abs(felt) > 1.2, np.abs(felt) > 0.3], [2, 1], 0) * np.sign(felt)
    return ListPreferences(pool.left, pool.right, answers.astype(np.int64), 5)


def test_learned_gains_beat_the_wrong_usual_setting_and_equal_the_right_one() -> None:
    report = cross_validate(simulated_answers(800, 1, 0, noise=0.0), c=1.0)
    assert report.linear.all == 1.0
    assert report.exponential.all < 0.97
    assert report.learned.all > 0.99
    assert report.learned.strong >= report.learned.weak
    assert report.differences["much"] > report.differences["better"] > report.differences["same"]
    assert report.pairs == 800
    assert report.ties > 50


def test_c_falls_with_noise() -> None:
    clean = choose_c(simulated_answers(200, 2, 1, noise=0.0), grid=(0.001, 10.0))
    noisy = simulated_answers(200, 2, 1)
    turned = np.random.default_rng(0).random(200) < 0.3
    flipped = ListPreferences(
        noisy.left, noisy.right, np.where(turned, -noisy.answers, noisy.answers), 5
    )
    assert clean == 10.0
    assert choose_c(flipped, grid=(0.001, 10.0)) == 0.001


def test_pairs_of_a_query_share_their_fold_and_few_queries_are_refused() -> None:
    groups = np.repeat(np.arange(10), 3)
    folds = fold_numbers(np.ones(30, dtype=int), 5, 0, groups)
    assert all(len(set(folds[groups == group].tolist())) == 1 for group in range(10))
    assert np.bincount(folds).tolist() == [6] * 5
    with pytest.raises(BadData, match="4 queries cannot fill 5 folds"):
        cross_validate(simulated_answers(4, 1, 0), c=1.0)


def test_accuracy_rises_with_training_pairs() -> None:
    found = by_training_size(simulated_answers(400, 1, 3), [10, 100, 250], repeats=6)
    assert found[10] < found[100] < found[250]
    with pytest.raises(BadData, match="cannot give"):
        by_training_size(simulated_answers(40, 1, 3), [40])


def test_a_heavier_tie_draws_held_out_ties_together() -> None:
    rows = tie_sweep(simulated_answers(300, 1, 4, noise=3.0), (0.0, 1.0, 10.0), c=1.0)
    differences = [row.tie_difference for row in rows]
    assert differences == sorted(differences, reverse=True)
    assert differences[-1] < differences[0]


def test_intervals_hold_the_estimate_and_shrink_with_more_answers() -> None:
    widths = []
    for n in (100, 600):
        pairs = simulated_answers(n, 2, 5)
        model = DCGLearn(c=1.0).fit(pairs)
        found = bootstrap_intervals(model, pairs, runs=40)
        assert found.runs == 40
        assert (found.discounts[0] <= found.discounts[1]).all()
        shares = shares_of_best(model.gains_)
        inside = (found.gains[0] - 0.1 <= shares) & (shares <= found.gains[1] + 0.1)
        assert inside.all()
        widths.append(float((found.gains[1] - found.gains[0])[1:4].mean()))
    assert widths[1] < widths[0]


def test_usual_margins_do_not_depend_on_where_grades_begin() -> None:
    pairs = simulated_answers(50, 2, 6)
    truth = true_gains(2).table  # grades counted from 1
    worth = truth[np.arange(10), pairs.left].sum(axis=1)
    gaps = worth - truth[np.arange(10), pairs.right].sum(axis=1)
    ours = usual_margins(pairs, linear=False)
    np.testing.assert_allclose(ours / ours[0], gaps / gaps[0])


@pytest.mark.thorough
def test_the_report_has_everything_as_plain_json() -> None:
    learned = learn_gains(simulated_answers(120, 1, 7), bootstrap=10, repeats=1)
    document = json.loads(json.dumps(learned.as_json(), allow_nan=False))
    assert sum(document["counts"].values()) == 120
    assert len(document["gain_intervals"]) == 5
    assert len(document["discount_intervals"]) == 10
    assert document["validation"]["learned"]["all"] > 0.8
    assert document["ties"][0]["c_ties"] == 0.0


def test_a_study_without_strong_answers_says_null_for_them() -> None:
    pairs = simulated_answers(60, 1, 8)
    weak = ListPreferences(pairs.left, pairs.right, np.sign(pairs.answers), 5)
    document = learn_gains(weak, bootstrap=0, c=1.0, repeats=1).as_json()
    assert document["validation"]["learned"]["strong"] is None
    assert document["gain_intervals"] is None


def test_lists_and_grades_are_read_and_joined(tmp_path: Path) -> None:
    lists = tmp_path / "lists.jsonl"
    lists.write_text(
        '{"query": "q1", "left": ["a", "b"], "right": ["b", "x"], "answer": "left_much"}\n\n'
        '{"query": "q2", "left": ["a"], "right": ["b", "a"], "answer": "same"}\n'
    )
    (tmp_path / "grades.qrels").write_text("q1 0 a 2\nq1 0 b 1\nq2 0 a 1\nq2 0 b 0\n")
    pairs = read_list_preferences(lists)
    assert [pair.answer for pair in pairs] == [2, 0]
    joined = graded_preferences(pairs, read_scores(tmp_path / "grades.qrels"), k=2)
    assert joined.n_grades == 3
    assert joined.left.tolist() == [[2, 1], [1, 0]]
    assert joined.right.tolist() == [[1, 0], [0, 1]]
    assert (joined.ungraded, joined.padded) == (1, 1)


def test_scores_are_cut_into_grades(tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text("a query\tdoc 1\t59.0\na query\tdoc 2\t12.5\n")
    scores = read_scores(path)
    assert cut_scores(scores, [20.0, 50.0]) == {("a query", "doc 1"): 2, ("a query", "doc 2"): 0}
    with pytest.raises(BadData, match="increase"):
        cut_scores(scores, [3.0, 3.0])
    with pytest.raises(BadData, match="too few"):
        even_cuts(np.ones(9), 3)


@each_case(
    ("read", "text", "word"),
    [
        (read_list_preferences, "{", "line 1: not JSON"),
        (read_list_preferences, "3", "line 1: not an object"),
        (read_list_preferences, '{"query": 1, "left": [], "answer": "left"}', "right. is missing"),
        (read_list_preferences, '{"query": 1, "left": "", "right": [], "answer": "up"}', "a list"),
        (read_list_preferences, '{"query": 1, "left": [], "right": [], "answer": "up"}', "'up' is"),
        (read_list_preferences, "", "no preferences"),
        (read_scores, "q 0 d\n" * 2, "second time|not a number"),
        (read_scores, "q 0 d x\n", "line 1: 'x' is not a number"),
        (read_scores, "q 0 d nan\n", "finite"),
        (read_scores, "q 0 d 1\nq 0 d 1\n", "line 2: q d appears twice"),
        (read_scores, "q 0\n", "2 fields"),
    ],
)
def test_a_bad_line_is_named(
    read: Callable[[Path], object], text: str, word: str, tmp_path: Path
) -> None:
    path = tmp_path / "answers"
    path.write_text(text)
    with pytest.raises(BadData, match=word):
        read(path)


def test_scores_that_are_no_grades_and_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    pairs = [*read_list_preferences(_one_pair(tmp_path))]
    with pytest.raises(BadData, match="cut scores"):
        graded_preferences(pairs, {("q", "a"): 1.5}, k=2)
    with pytest.raises(BadData, match="give the grades"):
        graded_preferences(pairs, None, k=2)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadData, match="not readable"):
        read_scores(tmp_path / "bytes")


def _one_pair(folder: Path) -> Path:
    path = folder / "one.jsonl"
    path.write_text('{"query": "q", "left": ["a"], "right": ["b"], "answer": "left"}\n')
    return path

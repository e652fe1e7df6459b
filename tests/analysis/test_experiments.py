"""Tuning, resumable results, significance, tables, sweeps and findings on small data."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import permutation_test

from bench.findings import beats, cross_fitted, interior_beta, plateau
from tests.cases import each_case
from topkapi.analysis.data import RankingData, folds, make_folds, write_letor
from topkapi.analysis.data.folds import FoldSet, fold_set_of, load_fold_set, with_truth
from topkapi.analysis.data.keyed import shuffled
from topkapi.analysis.errors import BadData, DidNotConverge
from topkapi.analysis.experiments.compare import ModelEntry, compare_tasks, gather, mean_over_folds
from topkapi.analysis.experiments.grids import GRIDS
from topkapi.analysis.experiments.tables import (
    FORMATS,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    as_text,
)
from topkapi.analysis.experiments.tuning import Tuned, _best_of, tune
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.models import RankNet
from topkapi.analysis.papers.bounds import check_bounds, counterexample, lemma_1, query_bounds
from topkapi.analysis.papers.comparison import (
    comparison_table,
    niu_columns,
    parents_table,
    reach_note,
    seconds_table,
)
from topkapi.analysis.papers.sweep_plots import beta_figure, save
from topkapi.analysis.papers.sweep_tables import beta_table
from topkapi.analysis.papers.sweeps import BETA_MEASURES, BETAS, beta_tasks
from topkapi.analysis.significance import holm, randomisation_test
from topkapi.analysis.tasks import Row, Store, Task, run_tasks


def graded(seed: int = 0, n_queries: int = 30) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 16, size=n_queries)
    features = rng.random((int(sizes.sum()), 4))
    clean = features[:, 0] + 0.5 * features[:, 1] + 0.3 * rng.normal(size=features.shape[0])
    labels = np.digitize(clean, [0.8, 1.2]).astype(float)
    return RankingData(features, labels, np.concatenate([[0], np.cumsum(sizes)]))


def small_fold_set() -> FoldSet:
    return fold_set_of("small", list(make_folds(graded(), 3)))


def test_tuning_keeps_the_setting_with_the_best_validation_score() -> None:
    train, validation = graded(1), graded(2)
    tuned = tune("ranknet", train, validation, "ndcg@10")
    scores = {}
    for _, values in GRIDS["ranknet"]:
        for l2 in values:
            alone = tune("ranknet", train, validation, "ndcg@10", given={"l2": l2})
            scores[l2] = alone.score
            assert alone.settings["l2"] == l2
    assert tuned.score == max(scores.values()) == scores[tuned.settings["l2"]]
    found = evaluate(validation, tuned.model.predict(validation), ["ndcg@10"])["ndcg@10"]
    assert found == tuned.score


def test_focused_models_tune_the_penalty_first_and_then_beta() -> None:
    tuned = tune("focused-net", graded(1), graded(2), "ndcg@10", given={"k": 3})
    assert tuned.settings["k"] == 3
    assert set(tuned.settings) == {"k", "l2", "beta"}


def test_a_killed_run_continues_and_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    calls: list[int] = []

    def work(number: int) -> Row:
        calls.append(number)
        if number == 2 and len(calls) < 4:
            raise KeyboardInterrupt
        return {"square": number**2}

    tasks = [Task({"number": number}, work, {"number": number}) for number in range(4)]
    path = tmp_path / "rows.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run_tasks(tasks, Store(path))
    with path.open("a") as stream:
        stream.write('{"key": "torn')
    calls.append(-1)
    seen: list[tuple[int, int]] = []
    rows = run_tasks(tasks, Store(path), progress=lambda done, total: seen.append((done, total)))
    assert calls == [0, 1, 2, -1, 2, 3]
    assert [row["square"] for row in rows] == [0, 1, 4, 9]
    assert seen == [(3, 4), (4, 4)]
    assert len(path.read_text().splitlines()) == 4
    path.write_text('not json\n{"key": "x"}\n')
    with pytest.raises(BadData, match="line 1"):
        Store(path)


def test_two_processes_give_the_rows_of_one(tmp_path: Path) -> None:
    fold_set = small_fold_set()
    tasks = list(compare_tasks(fold_set, [ModelEntry("listnet"), ModelEntry("regression")]))
    one = run_tasks(tasks, Store())
    two = run_tasks(tasks, Store(tmp_path / "rows.jsonl"), jobs=2)
    for first, second in zip(one, two, strict=True):
        assert first["values"] == second["values"]
        assert {"seed", "data_hash", "version", "settings"} <= set(first)


@pytest.mark.thorough
def test_comparison_tables_hold_means_over_folds_and_the_best_in_bold() -> None:
    fold_set = small_fold_set()
    names = ["listnet", "ranknet", "focused-net", "regression"]
    entries = [ModelEntry(name) for name in names]
    rows = run_tasks(compare_tasks(fold_set, entries, k=3), Store())
    table = comparison_table(rows, entries, "topk", niu_columns("topk", "standard"), "Top-3")
    cell = mean_over_folds(gather(rows, "topk", ModelEntry("ranknet"), "kappa-ndcg@10"))
    place = table.columns.index("κ-N@10")
    assert dict(table.rows)["RankNet"][place] == cell
    best = max(value for _, line in table.rows if (value := line[place]) is not None)
    assert f"**{best:.4f}**" in as_markdown(table)
    assert rf"\textbf{{{best:.4f}}}" in as_latex(table)
    read = list(csv.reader(io.StringIO(as_csv(table))))
    assert float(read[2][place + 1]) == pytest.approx(cell, abs=1e-6)
    parents = parents_table(rows, "topk", {"κ-ERR": "kappa-err"}, "Parents")
    assert [line[0] for line in parents.rows] == ["FocusedNet − ListNet", "FocusedNet − RankNet"]
    assert seconds_table(rows, entries, "Seconds").columns == ["graded, s", "topk, s"]
    assert all(write(table) for _, write in FORMATS.values())


def test_tables_escape_what_their_format_would_take_as_markup() -> None:
    table = Table("a < b & c_d", ["x|y"], [("<i>", [1.0]), ("no", [None])])
    assert "&lt;i&gt;" in FORMATS["html"][1](table)
    assert r"c\_d" in as_latex(table)
    assert r"x\|y" in as_markdown(table)
    assert "*1.0000" in as_text(table)
    wide = Table("wide", ["one", "two", "three"], [("first", [0.1, 0.2, 0.3])], digits=1)
    assert as_text(wide, width=17).splitlines() == [
        *("wide", "        one   two", "first  *0.1  *0.2", "", "       three", "first   *0.3")
    ]
    lower = Table("loss", ["x"], [("a", [1.0]), ("b", [2.0])], lower=frozenset(["x"]))
    assert "**1.0000**" in as_markdown(lower)


def test_the_randomisation_test_agrees_with_scipy_and_holm_with_a_worked_case() -> None:
    rng = np.random.default_rng(0)
    first = rng.random(40)
    second = first - 0.05 + 0.15 * rng.normal(size=40)
    reference = permutation_test(
        (first, second),
        lambda a, b: float(np.mean(a) - np.mean(b)),
        permutation_type="samples",
        n_resamples=9999,
        rng=np.random.default_rng(1),
    )
    assert randomisation_test(first, second) == pytest.approx(reference.pvalue, abs=0.02)
    assert randomisation_test(first + 1, first) < 0.001
    assert holm([0.01, 0.02, 0.03, 0.005]) == pytest.approx([0.03, 0.04, 0.04, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_beta_sweeps_cover_zero_to_one_and_reduce_to_figures(tmp_path: Path) -> None:
    fold_set = FoldSet("small", small_fold_set().folds[:1], "x")
    tasks = [
        task
        for task in beta_tasks(fold_set, ["topk"], k=3)
        if task.identity["model"] == "focused-net"
    ]
    rows = run_tasks(tasks, Store())
    assert len(BETAS) == 21
    assert (BETAS[0], BETAS[-1]) == (0.0, 1.0)
    table = beta_table(rows, "topk", "beta")
    assert len(table.rows) == 21
    found = interior_beta(rows, "topk")
    assert len(found) == 3
    assert all(each.verdict in each.line for each in found)
    save(beta_figure(rows, "topk", "beta"), tmp_path / "beta.svg")
    first = (tmp_path / "beta.svg").read_bytes()
    assert b"<svg" in first


def test_findings_say_what_was_found() -> None:
    rng = np.random.default_rng(0)
    good, bad = rng.random(50) * 0.1 + 0.8, rng.random(50) * 0.1 + 0.5
    rows = [
        {
            "data": "x",
            "truth": "topk",
            "model": name,
            "model_k": None,
            "fold": "Fold1",
            "values": {"kappa-err": list(values)},
        }
        for name, values in (("focused-net", good), ("ranknet", bad))
    ]
    (up,) = beats(rows, [("focused-net", "ranknet")], "topk", "kappa-err")
    (down,) = beats(rows, [("ranknet", "focused-net")], "topk", "kappa-err")
    assert up.confirmed
    assert not down.confirmed
    assert "Not shown" in down.line


def test_truths_of_a_fold_and_trials_from_a_file(tmp_path: Path) -> None:
    fold = small_fold_set().folds[0]
    assert with_truth(fold, "graded", 3, 0) is fold
    assert with_truth(fold, "topk", 3, 0).test.topk == 3
    whole = with_truth(fold, "full", 3, 0).test
    assert whole.labels[: whole.sizes[0]].max() == whole.sizes[0]
    with pytest.raises(BadData, match="no such file"):
        load_fold_set(tmp_path / "missing")


def test_a_file_with_its_best_documents_first_pays_no_model_of_equal_scores(tmp_path: Path) -> None:
    labels = np.tile([2.0, 1.0, 0.0, 0.0, 0.0, 0.0], 200)
    features = np.arange(1200.0)[:, None]
    data = RankingData(features, labels, np.arange(0, 1201, 6))
    assert evaluate(data, np.zeros(1200), ["ndcg@3"])["ndcg@3"] == 1.0
    write_letor(data, tmp_path / "sorted.txt")
    for fold in load_fold_set(tmp_path / "sorted.txt").folds:
        blind = evaluate(fold.test, np.zeros(fold.test.n_rows), ["ndcg@3"])["ndcg@3"]
        assert blind < 0.6  # .42 in expectation
    first, second = shuffled(data), shuffled(data.select([7, 3]))
    np.testing.assert_array_equal(first.select([7, 3]).features, second.features)
    rows = first.features[:, 0].astype(int)
    np.testing.assert_array_equal(labels[rows], first.labels)
    np.testing.assert_array_equal(np.sort(rows), np.arange(1200))
    assert (shuffled(data, 1).labels != first.labels).any()


def test_some_folds_have_the_digest_of_all_and_large_files_single_precision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"{row % 3} qid:{row // 4} 1:{row} 2:1" for row in range(60)]
    (tmp_path / "a.txt").write_text("\n".join(lines))
    whole, part = (load_fold_set(tmp_path / "a.txt", first=first) for first in (None, 2))
    assert (len(whole.folds), len(part.folds), part.digest) == (5, 2, whole.digest)
    assert part.folds[1].test.digest() == whole.folds[1].test.digest()
    assert whole.folds[0].train.features.dtype == np.float64
    assert load_fold_set(tmp_path / "a.txt", null="zero").digest != whole.digest
    monkeypatch.setattr(folds, "LARGE", 100)
    assert load_fold_set(tmp_path / "a.txt").folds[0].train.features.dtype == np.float32


@each_case("seed", range(30))
def test_the_bounds_hold_and_only_the_printed_18_may_fail(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 12)), int(rng.integers(1, 12))
    scores = rng.integers(-2, 3, size=n) * rng.choice([0.0, 0.3, 2.0])  # ties included
    for name, left, right in query_bounds(scores.astype(float), k):
        if "as printed" not in name:
            assert left <= right + 1e-9, name


def test_the_printed_theorem_2_2_has_its_counterexample_and_lemma_1_holds() -> None:
    left, right = counterexample()
    assert (left, round(right, 2)) == (9.0, 3.32)
    data = graded(5)
    scores = data.features[:, 2]
    assert lemma_1(data, scores, 3) == 0.0
    shares = {bound.name: bound.holds for bound in check_bounds(data, scores, 3)}
    assert all(share == 1.0 for name, share in shares.items() if "as printed" not in name)
    json.dumps(shares)


def test_the_best_of_many_equal_points_is_no_finding() -> None:
    """Check that an argmax inside, which chance alone gives, is not called confirmed."""
    rng = np.random.default_rng(1)
    measures = ("kappa-ndcg@1", "kappa-ndcg@5", "kappa-ndcg@10", "kappa-err")

    def rows(gain: float) -> list[Row]:
        bump = gain * np.sin(np.pi * np.linspace(0, 1, len(BETAS)))
        return [
            {
                "data": "x",
                "truth": "topk",
                "model": "focused-net",
                "fold": f"Fold{fold}",
                "values": {
                    name: (0.5 + bump + 0.01 * rng.normal(size=len(BETAS))).tolist()
                    for name in sorted({*measures, *BETA_MEASURES["topk"]})
                },
            }
            for fold in range(5)
        ]

    chance = [each for _ in range(40) for each in interior_beta(rows(0.0), "topk")]
    assert np.mean([each.confirmed for each in chance]) < 0.12  # the argmax alone: 90 %
    assert {each.verdict for each in chance if not each.confirmed} == {"Not shown"}
    assert all(each.confirmed for each in interior_beta(rows(0.1), "topk"))


@pytest.mark.parametrize(("full", "confirmed"), [(0.60, True), (0.65, False)])
def test_a_plateau_below_the_full_order_is_not_confirmed(full: float, confirmed: bool) -> None:
    curve = {1: 0.4, 5: 0.59, 10: 0.6, 100: 0.6, None: full}
    rng = np.random.default_rng(2)
    rows = [
        {
            "data": "x",
            "model": "rankboost",
            "k": k,
            "fold": f"Fold{fold}",
            "values": {"ndcg@10": value + 0.002 * rng.normal()},
        }
        for fold in range(5)
        for k, value in curve.items()
    ]
    (found,) = plateau(rows, "ndcg@10")
    assert found.confirmed == confirmed


def test_a_model_that_fails_is_marked_and_the_others_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fold_set = FoldSet("small", small_fold_set().folds[:1], "x")
    entries = [ModelEntry("ranknet"), ModelEntry("regression")]

    def fail(*_: object, **__: object) -> None:
        raise DidNotConverge("the loss left the finite numbers")

    monkeypatch.setattr(RankNet, "fit", fail)
    rows = run_tasks(compare_tasks(fold_set, entries, ["graded"]), Store())
    assert rows[0]["failed"] == "the loss left the finite numbers"
    table = comparison_table(rows, entries, "graded", niu_columns("graded", "standard"), "t")
    assert table.rows[0][1] == [None] * len(table.columns)
    assert None not in table.rows[1][1]
    assert "RankNet: the loss left the finite numbers" in table.note
    assert "seconds" not in rows[0]
    assert seconds_table(rows, entries, "s").rows[0][1] == [None]


def test_a_penalty_at_the_end_of_its_grid_extends_the_grid() -> None:
    fold = small_fold_set().folds[0]
    scores = {100.0: 0.1, 10.0: 0.2, 1.0: 0.3, 0.1: 0.5, 0.01: 0.4}

    def attempt(value: float) -> Tuned:
        return Tuned(RankNet(), {"l2": value}, scores.get(round(value, 9), 0.9), 0.0)

    values = [100.0, 10.0, 1.0]
    found, at_edge = _best_of([attempt(value) for value in values], "l2", values, attempt)
    assert (found.settings["l2"], at_edge) == (pytest.approx(0.1), False)
    scores[0.01] = 0.6
    found, at_edge = _best_of([attempt(value) for value in values], "l2", values, attempt)
    assert at_edge  # still rising after three more values
    tuned = tune("ranknet", fold.train, fold.validation, "ndcg@10", grid=[("l2", [1e9, 1e8])])
    assert tuned.settings["l2"] < 1e9 or tuned.at_edge == ()


def test_the_floor_and_the_ceiling_of_a_topk_table_are_stated() -> None:
    note = reach_note(small_fold_set(), 3, 0)
    low, high = (float(part.split()[-1]) for part in note.split(", of perfect"))
    assert 0 < low < high < 1
    data = graded()
    perfect = data.with_labels(np.arange(data.n_rows) * 1.0)  # no equal grades
    folds = fold_set_of("strict", list(make_folds(perfect, 3)))
    assert reach_note(folds, 3, 0).endswith("perfect grades 1.000")


def test_a_fold_is_measured_where_the_other_folds_are_best() -> None:
    assert cross_fitted(np.array([[1.0, 2], [4, 3], [5, 4]])).tolist() == [1.0, 4.0, 5.0]

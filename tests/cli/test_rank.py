"""`topkapi rank`: train, score, bounds, compare, sweep-beta, sweep-k."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands import Command
from topkapi.analysis.data import RankingData, read_letor, write_letor
from topkapi.analysis.data.folds import FoldSet
from topkapi.analysis.metrics import evaluate
from topkapi.analysis.models import load_model
from topkapi.app.cli.rank import experiments


@pytest.fixture
def rank(topkapi: Command) -> Command:
    return topkapi.of("rank")


def graded(seed: int, first: int, n_queries: int = 12) -> RankingData:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(3, 14, size=n_queries)
    features = rng.random((int(sizes.sum()), 3))
    labels = np.digitize(features[:, 0] + 0.2 * rng.normal(size=features.shape[0]), [0.5, 0.8])
    return RankingData(
        features,
        labels.astype(float),
        np.concatenate([[0], np.cumsum(sizes)]),
        tuple(str(first + number) for number in range(n_queries)),
        tuple(f"d{number}" for number in range(features.shape[0])),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write two folds in the layout of LETOR."""
    for fold in (1, 2):
        home = tmp_path / "small" / f"Fold{fold}"
        home.mkdir(parents=True)
        for number, part in enumerate(("train", "vali", "test")):
            write_letor(graded(10 * fold + number, 100 * number), home / f"{part}.txt.gz")
    return tmp_path / "small"


def test_a_trained_model_scores_and_its_run_scores_the_same(
    rank: Command, folder: Path, tmp_path: Path
) -> None:
    train, vali, test = (
        str(folder / "Fold1" / f"{part}.txt.gz") for part in ("train", "vali", "test")
    )
    model, ranking = str(tmp_path / "model.json"), str(tmp_path / "run.txt")
    output = rank.done("train", train, "--model", "focused-net", "--set", "k=3", "--out", model)
    assert "FocusedNet(k=3" in output
    scored = rank.told("score", test, "--model", model, "--out", ranking)
    data = read_letor(test)
    expected = evaluate(data, load_model(model).predict(data), ["ndcg@10", "map", "err"])
    assert scored["measures"] == pytest.approx(expected)
    assert rank.told("score", test, "--run", ranking)["measures"] == pytest.approx(expected)
    more = ("--model", "ranknet", "--validation", vali, "--out", model)
    assert rank.told("train", train, *more)["settings"]["l2"] > 0
    output = rank.done("score", test, "--model", model, "--per-query")
    assert output.count("\n") == data.n_queries + 3


def test_a_run_is_scored_against_qrels(rank: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("a 0 x 2\na 0 y 0\n")
    (tmp_path / "run").write_text("a Q0 y 1 2.0 t\na Q0 x 2 1.0 t\n")
    output = rank.done(
        "score", str(tmp_path / "qrels"), "--run", str(tmp_path / "run"), "--measures", "map"
    )
    assert output.split() == ["map", "0.5000"]


def test_a_run_earns_nothing_for_what_it_did_not_retrieve(rank: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 1\n1 0 c 0\n2 0 e 1\n2 0 f 1\n")
    (tmp_path / "run").write_text("1 Q0 c 1 1.0 t\n")
    source = (str(tmp_path / "qrels"), "--run", str(tmp_path / "run"))
    output = rank.told("score", *source, "--measures", "ndcg,map,p@10")
    assert output["measures"] == {"ndcg": 0, "map": 0, "p@10": 0}
    assert output["queries"] == 2


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["train", "DATA", "--model", "nope", "--out", "x"], "no model 'nope'"),
        (
            ["train", "DATA", "--model", "ranknet", "--set", "l3=1", "--out", "x"],
            "the settings of ranknet are l2",
        ),
        (["train", "missing", "--model", "ranknet", "--out", "x"], "missing"),
        (["score", "DATA"], "give either --model"),
        (["compare", "FOLDER", "--truth", "other"], "neither graded nor topk"),
        (["compare", "FOLDER", "--rule", "other"], "neither standard nor letor4"),
        (["compare", "FOLDER", "--k", "0"], "whole number"),
        (["sweep-k", "synthetic:9"], "QUERIESxDOCUMENTS"),
        (["compare", "nowhere"], "no such file"),
    ],
)
def test_errors_are_one_line_that_says_what_to_mend(
    arguments: list[str], fault: str, rank: Command, folder: Path
) -> None:
    paths = {"DATA": str(folder / "Fold1" / "test.txt.gz"), "FOLDER": str(folder)}
    code, output, wrong = rank(*(paths.get(word, word) for word in arguments))
    assert code != 0
    assert output == ""
    assert fault in wrong
    assert len([line for line in wrong.splitlines() if "not installed" not in line]) == 1


@pytest.mark.thorough
def test_compare_writes_every_format_and_continues_from_its_rows(
    rank: Command, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "results"
    arguments = [
        "compare",
        str(folder),
        "--models",
        "listnet,ranknet,focused-net",
        "--out",
        str(out),
    ]
    output = rank.done(*arguments, "--format", "markdown")
    assert "**Top-10 small**" in output
    assert "FocusedNet − RankNet" in output
    for ending in ("txt", "csv", "md", "tex", "html", "jsonl"):
        assert (out / f"compare-small.{ending}").stat().st_size > 0
    rows = (out / "compare-small.jsonl").read_text()
    assert len(rows.splitlines()) == 3 * 2 * 2
    again = rank.done(*arguments, "--format", "markdown")
    assert again == output
    assert (out / "compare-small.jsonl").read_text() == rows
    row = json.loads(rows.splitlines()[0])
    assert {"seed", "data_hash", "version"} <= set(row)


def test_compare_by_k_gives_the_rows_of_xia(rank: Command, folder: Path) -> None:
    told = rank.told("compare", str(folder), "--k", "1,3,full", "--models", "listnet")
    table = told["tables"][0]
    assert list(table["rows"]) == ["Top-1 ListMLE", "Top-3 ListMLE", "ListMLE", "ListNet"]
    assert table["columns"] == ["N@1", "N@3", "N@10", "P@1", "P@3", "P@10"]


@pytest.mark.thorough
def test_sweeps_print_tables_and_draw_figures(rank: Command, tmp_path: Path) -> None:
    out = tmp_path / "results"
    output = rank.done(
        *("sweep-k", "synthetic:10x20", "--models", "listmle", "--ks", "1,5"),
        *("--folds", "1", "--out", str(out)),
    )
    assert "full order" in output
    assert (out / "sweep-k-synthetic-10x20.svg").read_text().startswith("<?xml")


def test_bounds_show_the_printed_inequality_and_its_counterexample(
    rank: Command, folder: Path
) -> None:
    output = rank.done("bounds", str(folder / "Fold1" / "test.txt.gz"), "--k", "3")
    assert "9 > 3.32" in output
    assert "Lemma 1" in output


def test_null_features_and_scaling_are_options_of_compare(rank: Command, tmp_path: Path) -> None:
    rows = [
        f"{d % 3} qid:{q} 1:{d % 3 + 0.1 * q} 2:{1000.0 * d} 3:{'NULL' if d else 1}"
        for q in range(9)
        for d in range(6)
    ]
    path = tmp_path / "raw.txt"
    path.write_text("\n".join(rows) + "\n")
    given = ("compare", str(path), "--models", "regression", "--truth", "graded", "--folds", "1")
    code, _, wrong = rank(*given)
    assert code != 0
    assert "'3:NULL' is not number:value with a finite value: choose one with --null" in wrong
    code, output, wrong = rank(*given, "--null", "minimum")
    assert code == 0
    assert "consider --normalise" in wrong
    code, output, wrong = rank(*given, "--null", "zero", "--normalise")
    assert code == 0
    assert "Regression" in output
    assert "--normalise" not in wrong
    refused = rank.refused(*given, "--null", "one")
    assert refused == "topkapi: --null: 'one' is neither zero nor minimum\n"


def test_ground_truths_share_scaled_features(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[FoldSet] = []

    def scaled(fold_set: FoldSet) -> FoldSet:
        calls.append(fold_set)
        return FoldSet(fold_set.name, [], "scaled")

    monkeypatch.setattr(experiments, "normalised", scaled)
    shared = FoldSet("one", [], "raw")
    found = experiments.scaled_by_truth({"graded": shared, "topk": shared})
    assert calls == [shared]
    assert found["graded"] is found["topk"]


def test_a_run_is_scored_against_preferences(rank: Command, tmp_path: Path) -> None:
    prefs, ranking = tmp_path / "prefs", tmp_path / "run"
    prefs.write_text("a p 1 x 2\na p 1 y 1\na q 1 x 1\na q 1 z 2.5\n")
    ranking.write_text("a Q0 y 1 2.0 t\na Q0 x 2 1.0 t\n")
    names = ["--measures", "prefs_simp,prefs_num_prefs_poss"]
    output = rank.done("score", str(prefs), "--run", str(ranking), *names, "--per-query")
    assert output.splitlines() == [
        "a                  prefs_simp 0.0000  prefs_num_prefs_poss 2.0000",
        "prefs_simp         0.0000",
        "prefs_num_prefs_poss 2.0000",
    ]
    prefs.write_text("a 0 x 2\na 0 y 3\n")
    again = rank.told("score", str(prefs), "--run", str(ranking), *names)
    assert again["measures"] == {"prefs_simp": 1.0, "prefs_num_prefs_poss": 1.0}
    for more, fault in (
        (["--run", str(ranking), "--measures", "prefs_simp,map"], "a separate command"),
        (["--model", "m.json", "--measures", "prefs_simp"], "prefs_simp needs --run"),
        (["--run", str(ranking), "--measures", "prefs_same"], "write prefs_simp, prefs_simp_imp"),
    ):
        code, _, wrong = rank("score", str(prefs), *more)
        assert code != 0
        assert fault in " ".join(wrong.split())

"""TREC runs: read, written, and scored as trec_eval does within their length."""

from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from topkapi.analysis.data import RankingData
from topkapi.analysis.data.runs import data_of_judgments, format_run, read_run, run_scores
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics import evaluate


def test_a_written_run_is_read_back(tmp_path: Path) -> None:
    data = RankingData(
        np.ones((3, 1)), np.array([0.0, 1, 2]), np.array([0, 2, 3]), ("a", "b"), ("x", "y", "z")
    )
    scores = np.array([0.1, 1 / 3, -2.0])
    path = tmp_path / "run.txt"
    path.write_text(format_run(data, scores, "mine"))
    assert path.read_text().split("\n")[0] == f"a Q0 y 1 {1 / 3!r} mine"
    np.testing.assert_array_equal(run_scores(data, read_run(path)), scores)


def test_measures_of_a_run_equal_trec_eval_within_its_length() -> None:
    rng = np.random.default_rng(0)
    judged = {
        str(q): {f"d{i}": int(rng.integers(0, 4)) for i in rng.permutation(60)[:30]}
        for q in range(8)
    }
    run = {str(q): {f"d{i}": float(s) for i, s in enumerate(rng.permutation(60))} for q in range(8)}
    data = data_of_judgments({q: dict(ys) for q, ys in judged.items()}, run)
    ours = evaluate(data, run_scores(data, run), ["ndcg@10", "p@5", "map"], per_query=True)
    gains = {q: {d: 2**y - 1 for d, y in ys.items()} for q, ys in judged.items()}
    wanted = {"ndcg_cut.10", "P.5", "map"}
    theirs = pytrec_eval.RelevanceEvaluator(gains, wanted).evaluate(run)
    for name, key in (("ndcg@10", "ndcg_cut_10"), ("p@5", "P_5"), ("map", "map")):
        np.testing.assert_allclose(ours[name], [theirs[q][key] for q in judged], atol=1e-12)


def test_documents_the_run_lacks_come_last() -> None:
    data = RankingData(
        np.ones((3, 1)), np.array([2.0, 1, 0]), np.array([0, 3]), ("a",), ("x", "y", "z")
    )
    assert run_scores(data, {"a": {"z": 5.0, "y": 4.0}}).tolist() == [3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no lines"),
        ("a Q0 x 1 2\n", "line 1: 5 columns"),
        ("a Q0 x 1 2 t\na Q0 x 2 1 t\n", "line 2: document x twice"),
        ("a Q0 x 1 nan t\n", "line 1: score 'nan'"),
    ],
)
def test_broken_runs_name_the_line(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_text(text)
    with pytest.raises(BadData, match=fault):
        read_run(path)


def test_a_run_needs_document_names_and_a_common_query() -> None:
    bare = RankingData(np.ones((1, 1)), np.ones(1), np.array([0, 1]), ("a",))
    with pytest.raises(BadData, match="docid"):
        run_scores(bare, {"a": {"x": 1.0}})
    named = RankingData(np.ones((1, 1)), np.ones(1), np.array([0, 1]), ("a",), ("x",))
    with pytest.raises(BadData, match="in common"):
        run_scores(named, {"b": {"x": 1.0}})

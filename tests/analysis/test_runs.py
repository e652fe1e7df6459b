"""TREC runs: read, written, and scored as trec_eval does."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from tests.trec_eval import reference_library
from topkapi.analysis.data import RankingData
from topkapi.analysis.data.runs import (
    Run,
    data_of_judgments,
    format_run,
    judgments_of,
    read_run,
    run_scores,
)
from topkapi.analysis.errors import BadData
from topkapi.analysis.metrics import evaluate

DL21 = Path(__file__).parents[3] / "shared" / "data" / "TREC-DL21-text"


def test_a_written_run_is_read_back(tmp_path: Path) -> None:
    data = RankingData(
        np.ones((3, 1)), np.array([0.0, 1, 2]), np.array([0, 2, 3]), ("a", "b"), ("x", "y", "z")
    )
    scores = np.array([0.1, 1 / 3, -2.0])
    path = tmp_path / "run.txt"
    path.write_text(format_run(data, scores, "mine"))
    assert path.read_text().split("\n")[0] == f"a Q0 y 1 {1 / 3!r} mine"
    assert read_run(path) == {"a": {"x": 0.1, "y": 1 / 3}, "b": {"z": -2.0}}
    np.testing.assert_array_equal(run_scores(data, read_run(path)), scores.astype(np.float32))
    path.write_text(path.read_text("utf-8"), "utf-8-sig")
    assert list(read_run(path)) == ["a", "b"]
    path.write_bytes(b"\xef\xbb\xbfa\n\xff")
    with pytest.raises(BadData, match="line 2: not UTF-8"):
        read_run(path)


def test_scores_that_32_bits_cannot_tell_apart_are_ordered_by_id_as_in_trec_eval() -> None:
    judged, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 12.0000002, "b": 12.0000001}}
    assert ours(judged, run, ["map"])["map"] == [0.5]
    pytrec_eval = reference_library("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"map"}).evaluate(run)
    assert theirs["1"]["map"] == 0.5


def text_of(name: str) -> list[str]:
    return gzip.decompress((DL21 / name).read_bytes()).decode().splitlines()


@pytest.mark.skipif(not DL21.exists(), reason="shared research data are not here")
@pytest.mark.parametrize(
    ("system", "mean", "in_64_bits"),
    [("Fast_ForwardP_2", 0.3094, 0.3092), ("ielab-uniCOIL", 0.3615, 0.3613)],
)
def test_the_map_of_a_submitted_run_is_that_of_its_32_bit_scores(
    system: str, mean: float, in_64_bits: float
) -> None:
    """Check a run whose scores tie in 32 bits against plain loops that round as C does."""
    qrels: dict[str, dict[str, int]] = {}
    for line in text_of("qrels.dl21-passage.txt.gz"):
        query, _, document, label = line.split()
        qrels.setdefault(query, {})[document] = int(label)
    run: Run = {}
    for line in text_of("runs-judged.tsv.gz"):
        query, document, name, _, score = line.split("\t")
        if name == system:
            run.setdefault(query, {})[document] = float(score)

    def precision(query: str, rounded: Callable[[float], float]) -> float:
        scores, judged = run.get(query, {}), qrels[query]
        order = sorted(sorted(scores, reverse=True), key=lambda name: -rounded(scores[name]))
        ranks = [at for at, name in enumerate(order, start=1) if judged.get(name, 0) > 0]
        relevant = sum(label > 0 for label in judged.values())
        return sum(n / rank for n, rank in enumerate(ranks, start=1)) / relevant

    single = [
        precision(query, lambda x: struct.unpack("f", struct.pack("f", x))[0]) for query in qrels
    ]
    assert np.mean([precision(query, float) for query in qrels]) == pytest.approx(
        in_64_bits, abs=5e-5
    )
    assert np.mean(single) == pytest.approx(mean, abs=5e-5)
    np.testing.assert_allclose(ours(qrels, run, ["map"])["map"], single, atol=1e-12)


def test_measures_of_a_run_equal_trec_eval_within_its_length() -> None:
    pytrec_eval = reference_library("pytrec_eval")
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


QRELS = {"1": {"a": 1, "b": 1, "c": 0}, "2": {"e": 1, "f": 1}}
DOCUMENTS = st.sampled_from([f"d{number}" for number in range(9)])
QUERIES = st.sampled_from(["1", "2", "3", "4"])


def ours(qrels: dict[str, dict[str, int]], run: Run, names: list[str]) -> dict[str, list[float]]:
    data = data_of_judgments(qrels, run)
    found = evaluate(data, run_scores(data, run), names, per_query=True)
    return {name: values.tolist() for name, values in found.items()}


def test_what_a_run_did_not_retrieve_earns_nothing() -> None:
    found = ours(QRELS, {"1": {"c": 1.0}}, ["ndcg", "map", "p@10", "err", "rbo", "compatibility"])
    assert found == {name: [0.0, 0.0] for name in found}
    assert ours(QRELS, {"1": {"c": 1.0}}, ["topk-01@1", "kendall-tau"])["topk-01@1"] == [1.0, 1.0]


# trec_eval may not end where all grades of a query are negative: there is one that is not.
GRADES = st.dictionaries(DOCUMENTS, st.integers(-1, 3), min_size=1).filter(
    lambda grades: max(grades.values()) >= 0
)


@given(
    qrels=st.dictionaries(QUERIES, GRADES, min_size=1),
    run=st.dictionaries(
        QUERIES, st.dictionaries(DOCUMENTS, st.integers(-3, 3).map(float), min_size=1), min_size=1
    ),
)
def test_incomplete_runs_with_ties_and_unjudged_documents_equal_trec_eval(
    qrels: dict[str, dict[str, int]], run: Run
) -> None:
    """Queries that the run lacks score 0, as with ``trec_eval -c``; ties go by document id."""
    pytrec_eval = reference_library("pytrec_eval")
    keys = {
        "ndcg@2": "ndcg_cut_2",
        "ndcg": "ndcg",
        "p@3": "P_3",
        "map": "map",
        "map@2": "map_cut_2",
    }
    gains = {q: {d: 2**y - 1 if y > 0 else y for d, y in ys.items()} for q, ys in qrels.items()}
    wanted = {"ndcg_cut.2", "ndcg", "P.3", "map", "map_cut.2"}
    theirs = pytrec_eval.RelevanceEvaluator(gains, wanted).evaluate(run)
    run["elsewhere"] = {"x": 1.0}
    qrels["in both"] = {"x": 1}
    run["in both"] = {"y": 1.0}
    found = ours(qrels, run, list(keys))
    for name, key in keys.items():
        expected = [theirs.get(query, {}).get(key, 0.0) for query in qrels]
        np.testing.assert_allclose(found[name], expected, atol=1e-6)


def test_err_and_compatibility_of_incomplete_runs_equal_ir_measures() -> None:
    ir_measures = reference_library("ir_measures")
    rng = np.random.default_rng(4)
    qrels = {
        str(q): {f"d{i}": int(rng.integers(0, 4)) for i in rng.permutation(20)[:12]}
        for q in range(10)
    }
    qrels["0"]["d1"] = 4  # the highest grade of ERR
    run = {
        str(q): {f"d{i}": float(7 - rank) for rank, i in enumerate(rng.permutation(25)[:7])}
        for q in range(9)
    }
    compat, err = ir_measures.Compat(p=0.8), ir_measures.ERR @ 20
    theirs = {
        (m.measure, m.query_id): m.value for m in ir_measures.iter_calc([compat, err], qrels, run)
    }
    found = ours(qrels, run, ["compatibility:0.8", "err@20"])
    for name, key in (("compatibility:0.8", compat), ("err@20", err)):
        expected = [theirs.get((key, query), 0.0) for query in qrels]
        np.testing.assert_allclose(found[name], expected, atol=1e-5)


def test_a_run_is_scored_against_labels_with_its_unjudged_documents() -> None:
    data = RankingData(
        np.ones((3, 1)), np.array([2.0, 1, 0]), np.array([0, 3]), ("a",), ("x", "y", "z"), topk=2
    )
    run = {"a": {"new": 9.0, "y": 4.0}}
    judged = data_of_judgments(judgments_of(data), run, topk=data.topk)
    assert judged.topk == 2
    assert dict(zip(judged.document_ids, judged.labels, strict=True)) == {
        **{"x": 2.0, "y": 1.0, "z": 0.0},
        "new": 0.0,
    }
    scores = run_scores(judged, run)
    assert evaluate(judged, scores, ["p@2"]) == {"p@2": 0.5}
    assert format_run(judged, scores, "t").split("\n") == [
        *("a Q0 new 1 9.0 t", "a Q0 y 2 4.0 t"),
        "",
    ]


@each_case(
    ("text", "fault"),
    [
        ("", "no lines"),
        ("a Q0 x 1 2\n", "line 1: 5 columns"),
        ("a Q0 x 1 2 t\na Q0 x 2 1 t\n", "line 2: document x twice"),
        ("a Q0 x 1 nan t\n", "line 1: score 'nan'"),
        ("a Q0 x 1 1_000 t\n", "line 1: score '1_000'"),
        ("a Q0 x 1 \u0661 t\n", "line 1: score '\u0661'"),
        ("a Q0 x 1 2 t\n" + "a " * 3000, "line 2: more than 4,096 characters"),
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

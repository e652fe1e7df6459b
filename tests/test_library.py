"""What `import topkapi` gives to a notebook."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import topkapi
from topkapi.analysis.data import RankingData
from topkapi.analysis.data.exports import PairAnswer
from topkapi.analysis.errors import BadData, UnknownName

ROOT = Path(__file__).parent.parent


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write answers of two people, qrels and a run into the current folder."""
    monkeypatch.chdir(tmp_path)
    answers = [("a", "b", "a"), ("b", "c", "a"), ("a", "c", "a")]
    lines = [f"q1\t{a}\t{b}\t{p}\t{who}" for who in ("ansa", "bao") for a, b, p in answers]
    lines[-1] = "q1\ta\tc\ttie\tbao"
    text = "\n".join(["query\ta\tb\tpreference\tassessor", *lines, ""])
    (tmp_path / "pairs.tsv").write_text(text)
    (tmp_path / "qrels").write_text("q1 0 a 2\nq1 0 b 1\nq1 0 c 0\n")
    (tmp_path / "bm25.run").write_text("q1 Q0 b 1 2.5 bm25\nq1 Q0 a 2 1.5 bm25\n")


@pytest.mark.thorough
@pytest.mark.usefixtures("files")
def test_files_are_named_by_strings_or_paths_and_read_once() -> None:
    pairs = topkapi.read_pairs("pairs.tsv")
    for answers in (pairs, "pairs.tsv", Path("pairs.tsv")):
        found = topkapi.agreement(answers)
        assert found.votes == 3
        assert found.overall.value == pytest.approx(2 / 3)
        assert topkapi.consensus(answers) == {"q1": ["a", "b"]}
    assert topkapi.consensus(pairs, k=1) == {"q1": ["a"]}
    assert topkapi.report("pairs.tsv").study.assessors == 2


@pytest.mark.usefixtures("files")
def test_a_run_is_scored_by_files_or_by_what_they_contain() -> None:
    labels = {"q1": {"a": 2.0, "b": 1.0, "c": 0.0}}
    run = topkapi.read_run("bm25.run")
    scores = [
        topkapi.evaluate(truth, scored, ["ndcg@10", "p@1"])
        for truth, scored in (("qrels", "bm25.run"), (labels, run), (Path("qrels"), run))
    ]
    gained, best = 1 + 3 / np.log2(3), 3 + 1 / np.log2(3)
    assert scores == [pytest.approx({"ndcg@10": gained / best, "p@1": 1.0})] * 3
    data = RankingData(np.eye(2), np.array([1.0, 0.0]), np.array([0, 2]), ("q1",), ("a", "b"))
    assert topkapi.evaluate(data, np.array([2.0, 1.0]), ["map"]) == {"map": 1.0}
    assert topkapi.evaluate(data, run, ["map"]) == {"map": 0.5}
    with pytest.raises(BadData, match="a run as scores"):
        topkapi.evaluate("qrels", np.array([1.0]))


def test_wrong_names_are_answered_with_the_right_ones() -> None:
    with pytest.raises(AttributeError, match="did you mean 'consensus'"):
        topkapi.concensus  # noqa: B018
    with pytest.raises(UnknownName, match="did you mean 'ranksvm'"):
        topkapi.MODELS["ranksvn"]
    with pytest.raises(UnknownName, match=r"did you mean 'ndcg@10'\?"):
        topkapi.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["ncdg@10"])
    with pytest.raises(BadData, match="no answers"):
        topkapi.consensus([])


def test_wrong_kinds_of_values_are_answered_with_the_right_ones() -> None:
    data = RankingData(np.eye(2), np.array([1.0, 0.0]), np.array([0, 2]))
    model = topkapi.MODELS["ranksvm"]()
    wrong: Any = np.eye(2)
    for use in (model.fit, topkapi.MODELS["listnet"]().fit, model.fit(data).predict):
        with pytest.raises(BadData, match=r"not ndarray.*RankingData\.from_frame"):
            use(wrong)
    file: Any = "train.txt"
    with pytest.raises(BadData, match=r"not str.*read_letor"):
        model.fit(file)
    rows: Any = [[1.0, 2.0]]
    with pytest.raises(BadData, match=r"features must be a NumPy array, not list"):
        RankingData(rows, np.array([1.0]), np.array([0, 1]))
    tuples: Any = [("q1", "a", "b", "a", "ansa")]
    for answers in (tuples, wrong):
        with pytest.raises(BadData, match=r"PairAnswer"):
            topkapi.agreement(answers)
    odd = [PairAnswer("q1", "a", "b", "better", "ansa")]
    with pytest.raises(BadData, match=r"'better' is not a, b or tie"):
        topkapi.consensus(odd)
    method: Any = "supervised-kemeni"
    answers = [PairAnswer("q1", "a", "b", "a", "ansa")]
    with pytest.raises(UnknownName, match=r"did you mean 'supervised-kemeny'"):
        topkapi.consensus(answers, method=method)
    with pytest.raises(BadData, match=r"k must be at least 1"):
        topkapi.consensus(answers, k=0)
    assert topkapi.evaluate(data, [2.0, 1.0], "map") == {"map": 1.0}


def test_data_frames_go_in_and_out() -> None:
    pandas = pytest.importorskip("pandas")
    answers = [PairAnswer("q1", "a", "b", "a", who) for who in ("ansa", "bao")]
    frame = pandas.DataFrame(answers)
    assert topkapi.agreement(frame) == topkapi.agreement(answers)
    columns = {"query": ["q2", "q1", "q2"], "document": ["a", "b", "c"], "label": [1, 0, 2]}
    table = pandas.DataFrame({**columns, "bm25": [0.5, 1.5, 2.5], "clicks": [3, 4, 5]})
    data = RankingData.from_frame(table)
    assert (data.query_ids, data.document_ids) == (("q2", "q1"), ("a", "c", "b"))
    assert data.labels.tolist() == [1.0, 2.0, 0.0]
    assert data.features.tolist() == [[0.5, 3.0], [2.5, 5.0], [1.5, 4.0]]
    back = data.to_frame()
    assert list(back.columns) == ["query", "document", "label", "feature 1", "feature 2"]
    assert RankingData.from_frame(back).digest() == data.digest()
    with pytest.raises(BadData, match=r"no column 'label': did you mean 'lable'\?"):
        RankingData.from_frame(table.rename(columns={"label": "lable"}))
    with pytest.raises(BadData, match=r"the column 'bm25' has values that are no numbers"):
        RankingData.from_frame(table.assign(bm25="much"))


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=5), topk=st.none() | st.integers(1, 3)
)
def test_a_frame_of_any_data_gives_the_same_data(sizes: list[int], topk: int | None) -> None:
    pytest.importorskip("pandas")
    rows = sum(sizes)
    data = RankingData(
        np.arange(2.0 * rows).reshape(rows, 2),
        np.arange(float(rows)) % 3,
        np.cumsum([0, *sizes]),
        document_ids=tuple(f"d{row}" for row in range(rows)),
        topk=topk,
    )
    back = RankingData.from_frame(data.to_frame(), topk=topk)
    assert back.digest() == data.digest()
    assert (back.query_ids, back.document_ids) == (data.query_ids, data.document_ids)


def test_the_version_is_that_of_the_project_and_every_name_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert topkapi.__version__ == project["version"]
    assert set(topkapi.__all__) <= set(dir(topkapi))
    assert all(getattr(topkapi, name) for name in topkapi.__all__)
    assert (ROOT / "src/topkapi/py.typed").exists()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, topkapi; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

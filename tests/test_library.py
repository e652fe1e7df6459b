"""What `import topkapi` gives to a notebook."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import topkapi
from topkapi.analysis.data import RankingData
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


def test_the_version_is_that_of_the_project_and_every_name_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert topkapi.__version__ == project["version"]
    assert set(topkapi.__all__) <= set(dir(topkapi))
    assert all(getattr(topkapi, name) for name in topkapi.__all__)
    assert (ROOT / "src/topkapi/py.typed").exists()


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, topkapi; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""`topkapi rank` on a study of the database."""

import json
from pathlib import Path

import pytest

from tests.commands import Command
from tests.databases import transaction_on
from tests.exporting import add_features, by_worth, judge, make_grades
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.domain.pairs.answers import Answer, Question

SMALL = ("--models", "regression,ranknet", "--folds", "3")


def fill(url: str) -> None:
    """Create two studies: in the first Ansa has four lists and two graded queries, Bao three
    lists.
    """
    with transaction_on(url) as session:
        study = make_study(session, slug="tulips", queries=5)
        add_features(session, study, named=True)
        ansa, bao = (make_user(session, email=f"{name}@x.example") for name in ("ansa", "bao"))
        queries = queries_of(session, study)
        for query in queries[:4]:
            judge(session, make_assignment(session, user=ansa, query=query, seed="a"))
        for query in queries[:3]:
            later = make_assignment(session, user=bao, query=query, seed="b", round=1)
            judge(session, later, person=_contrary)
        for query in queries[3:]:
            judge(session, make_grades(session, bao, query))
        make_study(session, slug="new")


def _contrary(question: Question) -> Answer:
    return Answer.RIGHT if by_worth(question) is Answer.LEFT else Answer.LEFT


@pytest.fixture
def folder(database_url: str, folder_of_commands: Path) -> Path:
    """Run the commands in this folder, on a database with a judged study."""
    fill(database_url)
    return folder_of_commands


@pytest.fixture
def sqlite_folder(sqlite_url: str, sqlite_folder_of_commands: Path) -> Path:
    """Provide `folder` on SQLite only, for tests that do not depend on the database."""
    fill(sqlite_url)
    return sqlite_folder_of_commands


@pytest.fixture
def rank(topkapi: Command) -> Command:
    return topkapi.of("rank")


def test_a_study_is_compared_and_what_is_left_out_is_said(folder: Path, rank: Command) -> None:
    arguments = ("compare", "--study", "tulips", *SMALL, "--truth", "topk", "--out", "results")
    code, output, stderr = rank(*arguments)
    assert code == 0, stderr
    assert "Top-3 tulips" in output
    assert "Graded" not in output
    assert stderr.splitlines() == [
        "tulips: 2 features",
        "topk (from pairs): 4 queries; skipped, without labels: q4",
    ]
    lines = (folder / "results" / "compare-tulips.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert {(row["truth"], row["k"], row["fold"]) for row in rows} == {
        ("topk", 3, f"Fold{number}") for number in (1, 2, 3)
    }
    assert sum(len(row["values"]["kappa-err"]) for row in rows) == 2 * 4


def test_a_study_and_its_letor_export_give_the_same_model(
    sqlite_folder: Path, topkapi: Command, rank: Command
) -> None:
    topkapi.done("export", "tulips", "letor", "--out", "tulips.letor")
    arguments = ("train", "--model", "ranknet")
    exported = ("tulips.letor", "--topk", "3", "--normalise", "--out", "of-file.json")
    for more in (("--study", "tulips", "--out", "of-study.json"), exported):
        rank.done(*arguments, *more)
    of_study, of_file = (
        json.loads((sqlite_folder / name).read_text()) for name in ("of-study.json", "of-file.json")
    )
    assert of_study == of_file


@pytest.mark.usefixtures("sqlite_folder")
def test_top_k_models_learn_the_k_of_the_study(rank: Command) -> None:
    arguments = ("train", "--study", "tulips", "--model", "topk-listmle", "--out", "x")
    for more, k in (((), 3), (("--topk", "2"), 2), (("--set", "k=1"), 1)):
        assert rank.told(*arguments, *more)["settings"]["k"] == k


@pytest.mark.thorough
@pytest.mark.usefixtures("folder")
def test_one_assessor_gives_other_data_than_the_consensus(rank: Command) -> None:
    arguments = ("compare", "--study", "tulips", *SMALL, "--truth", "topk")
    one = rank.told(*arguments, "--assessor", "bao@x.example")
    assert one["data_hash"] != rank.told(*arguments)["data_hash"]


@pytest.mark.thorough
def test_a_model_is_trained_and_scored_on_a_study(folder: Path, rank: Command) -> None:
    rank.done("train", "--study", "tulips", "--model", "ranknet", "--out", "model.json")
    score = ("score", "--study", "tulips", "--measures", "kappa-ndcg@3")
    by_model = rank.told(*score, "--model", "model.json", "--out", "run.txt")
    assert by_model["queries"] == 4
    assert (folder / "run.txt").read_text().startswith("q0 Q0 q0-d")
    assert rank.told(*score, "--run", "run.txt") == by_model
    assert rank.told(*score, "--model", "model.json", "--truth", "graded")["queries"] == 2
    by_pairs = rank.told(*score, "--run", "run.txt", "--measures", "prefs_avgjg")
    assert 0 < by_pairs["measures"]["prefs_avgjg"] < 1


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("compare --study tulips", "2 queries have labels from grades"),
        ("compare --study tulips", "or use only --truth topk"),
        ("compare --study tulips --truth topk", "use --folds 4"),
        ("compare --study tulips --truth topk --folds 3 --k 9", "use --k 3 or less"),
        ("compare --study nowhere", "no study 'nowhere'"),
        ("compare --study new", "no query is finished"),
        ("compare --study tulips --assessor nobody", "No assessor 'nobody'"),
        ("compare --study tulips file.txt", "give either a file or folder of data, or a study"),
        ("compare", "give either a file or folder of data, or a study"),
        ("compare file.txt --assessor bao", "needs --study"),
        ("train --study tulips --model ranknet --out x --validation y", "use rank compare"),
        ("train --study tulips --model ranknet --out x --truth graded,topk", "either graded"),
        ("train file.txt --model ranknet --out x --truth topk", "for a file, use --topk"),
    ],
)
def test_errors_are_one_line_that_says_what_to_mend(
    arguments: str, fault: str, sqlite_folder: Path, rank: Command
) -> None:
    code, output, wrong = rank(*arguments.split())
    assert code != 0
    assert output == ""
    assert fault in wrong
    assert len([line for line in wrong.splitlines() if "not installed" not in line]) == 1
    assert not (sqlite_folder / "x").exists()


def test_models_without_their_library_are_left_out_in_one_line(
    sqlite_folder: Path, monkeypatch: pytest.MonkeyPatch, topkapi: Command
) -> None:
    python = sqlite_folder / "env" / "bin" / "python"
    monkeypatch.setattr("sys.executable", str(python))
    monkeypatch.setattr("topkapi.extras.find_spec", lambda _name: None)
    monkeypatch.setattr("topkapi.app.cli.rank.experiments.TABLE_ORDER", ["ranknet", "lightgbm"])
    command = "(env/bin/python -m pip install 'lightgbm>=4.6')"
    arguments = ["rank", "compare", "--study", "tulips", "--folds", "3", "--truth", "topk"]
    code, out, err = topkapi(*arguments)
    assert code == 0, err
    assert [line for line in err.splitlines() if "lightgbm" in line.lower()] == [
        f"left out, not installed: lightgbm {command}"
    ]
    assert "LightGBM" not in out
    code, _, err = topkapi(*arguments, "--models", "ranknet,lightgbm")
    assert (code, err) == (1, f"topkapi: --models: not installed: lightgbm {command}\n")

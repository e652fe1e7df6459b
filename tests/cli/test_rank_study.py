"""`topkapi rank` on a study of the database."""

import json
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.exporting import add_features, by_worth, judge, make_grades
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.cli import main
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.pairs.answers import Answer, Question

SMALL = ("--models", "regression,ranknet", "--folds", "3")


def fill(url: str) -> None:
    """Create two studies: in the first Ansa has four lists and two graded queries, Bao three
    lists.
    """
    engine = make_engine(url)
    with make_sessions(engine).write.begin() as session:
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
    engine.dispose()


def _contrary(question: Question) -> Answer:
    return Answer.RIGHT if by_worth(question) is Answer.LEFT else Answer.LEFT


@pytest.fixture
def folder(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Run the commands in this folder, on a database with a judged study."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    fill(database_url)
    return tmp_path


@pytest.fixture
def sqlite_folder(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Provide `folder` on SQLite only, for tests that do not depend on the database."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", sqlite_url)
    fill(sqlite_url)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return run_command(capsys, ["rank", *arguments])


def test_a_study_is_compared_and_what_is_left_out_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("compare", "--study", "tulips", *SMALL, "--truth", "topk", "--out", "results")
    code, output, stderr = run(capsys, *arguments)
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
    sqlite_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["export", "tulips", "letor", "--out", "tulips.letor"])
    arguments = ("train", "--model", "ranknet")
    exported = ("tulips.letor", "--topk", "3", "--normalise", "--out", "of-file.json")
    for more in (("--study", "tulips", "--out", "of-study.json"), exported):
        code, _, stderr = run(capsys, *arguments, *more)
        assert code == 0, stderr
    of_study, of_file = (
        json.loads((sqlite_folder / name).read_text()) for name in ("of-study.json", "of-file.json")
    )
    assert of_study == of_file


def test_top_k_models_learn_the_k_of_the_study(
    sqlite_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del sqlite_folder
    arguments = ("train", "--study", "tulips", "--model", "topk-listmle", "--out", "x", "--json")
    for more, k in (((), 3), (("--topk", "2"), 2), (("--set", "k=1"), 1)):
        code, output, stderr = run(capsys, *arguments, *more)
        assert code == 0, stderr
        assert json.loads(output)["settings"]["k"] == k


@pytest.mark.thorough
def test_one_assessor_gives_other_data_than_the_consensus(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del folder
    arguments = ("compare", "--study", "tulips", *SMALL, "--truth", "topk", "--json")
    hashes = []
    for more in ((), ("--assessor", "bao@x.example")):
        code, output, stderr = run(capsys, *arguments, *more)
        assert code == 0, stderr
        hashes.append(json.loads(output)["data_hash"])
    assert hashes[0] != hashes[1]


@pytest.mark.thorough
def test_a_model_is_trained_and_scored_on_a_study(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, stderr = run(
        capsys, "train", "--study", "tulips", "--model", "ranknet", "--out", "model.json"
    )
    assert code == 0, stderr
    measures = ("--measures", "kappa-ndcg@3", "--json")
    score = ("score", "--study", "tulips", *measures)
    code, by_model, _ = run(capsys, *score, "--model", "model.json", "--out", "run.txt")
    assert code == 0
    assert json.loads(by_model)["queries"] == 4
    assert (folder / "run.txt").read_text().startswith("q0 Q0 q0-d")
    code, by_run, _ = run(capsys, *score, "--run", "run.txt")
    assert json.loads(by_run) == json.loads(by_model)
    code, graded, _ = run(capsys, *score, "--model", "model.json", "--truth", "graded")
    assert json.loads(graded)["queries"] == 2
    code, by_pairs, _ = run(capsys, *score, "--run", "run.txt", "--measures", "prefs_avgjg")
    assert code == 0
    assert 0 < json.loads(by_pairs)["measures"]["prefs_avgjg"] < 1


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
    arguments: str, fault: str, sqlite_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, output, wrong = run(capsys, *arguments.split())
    assert code != 0
    assert output == ""
    assert fault in wrong
    assert len([line for line in wrong.splitlines() if "not installed" not in line]) == 1
    assert not (sqlite_folder / "x").exists()


def test_models_without_their_library_are_left_out_in_one_line(
    sqlite_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = sqlite_folder / "env" / "bin" / "python"
    monkeypatch.setattr("sys.executable", str(python))
    monkeypatch.setattr("topkapi.extras.find_spec", lambda _name: None)
    monkeypatch.setattr("topkapi.app.cli.rank.experiments.TABLE_ORDER", ["ranknet", "lightgbm"])
    command = "(env/bin/python -m pip install 'lightgbm>=4.6')"
    arguments = ["rank", "compare", "--study", "tulips", "--folds", "3", "--truth", "topk"]
    code, out, err = run_command(capsys, arguments)
    assert code == 0, err
    assert [line for line in err.splitlines() if "lightgbm" in line.lower()] == [
        f"left out, not installed: lightgbm {command}"
    ]
    assert "LightGBM" not in out
    code, _, err = run_command(capsys, [*arguments, "--models", "ranknet,lightgbm"])
    assert (code, err) == (1, f"topkapi: --models: not installed: lightgbm {command}\n")

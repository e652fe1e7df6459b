import gzip
import json
import os
from pathlib import Path

import pytest

from tests.exporting import make_judged_study
from topkapi.analysis.data import read_topk
from topkapi.app.cli import main
from topkapi.app.db.engine import make_engine, make_sessions


@pytest.fixture
def folder(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Run the commands in this folder, on a database with a judged study."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        make_judged_study(session)
    engine.dispose()
    return tmp_path


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(["export", *arguments])
    assert isinstance(end.value.code, int)
    return end.value.code


def test_a_file_is_written_and_what_is_complete_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("tulips", "topk.jsonl", "--out", "truth.jsonl") == 0
    size = (folder / "truth.jsonl").stat().st_size
    output = capsys.readouterr().out
    assert output == f"{size} bytes written to truth.jsonl (pairs: 3 of 5 finished)\n"
    assert len(read_topk("truth.jsonl", complete_only=True)) == 3


def test_a_packed_file_holds_the_same_and_is_the_same_each_time(folder: Path) -> None:
    for name in ("a.jsonl", "a.jsonl.gz", "b.jsonl.gz"):
        assert run("tulips", "topk.jsonl", "--out", name) == 0
    packed = (folder / "a.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == (folder / "a.jsonl").read_bytes()
    assert packed == (folder / "b.jsonl.gz").read_bytes()
    assert read_topk("a.jsonl.gz") == read_topk("a.jsonl")


@pytest.mark.usefixtures("folder")
def test_standard_output_has_the_bytes_alone(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run("tulips", "pairs.tsv") == 0
    captured = capsysbinary.readouterr()
    assert captured.out.startswith(b"query\ta\tb\tpreference\tassessor\nq0\t")
    assert captured.err == b"pairs: 3 of 5 finished\n"


@pytest.mark.usefixtures("folder")
def test_programs_are_answered_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("tulips", "judgments.jsonl", "--out", "log.jsonl", "--json") == 0
    output = json.loads(capsys.readouterr().out)
    assert (output["format"], output["complete"]) == ("judgments.jsonl", False)
    assert {each["tool"]: each["withdrawn"] for each in output["tools"]} == {
        "pairs": 1,
        "grades": 0,
    }


def test_refusals_are_one_line_and_leave_no_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(os.listdir(folder))
    for arguments, says in (
        (("roses", "qrels"), "There is no study 'roses'."),
        (("tulips", "qrel"), "There is no export 'qrel'. Choose one of topk.jsonl, topk.parquet"),
        (("tulips", "qrels", "--assessor", "Eve"), "No assessor 'Eve' has work in this study"),
        (("tulips", "pairs.tsv", "--out", "no/such/folder/x"), "No such file or directory"),
        (("tulips", "pairs.tsv", "--out", "."), "Is a directory"),
        (("tulips", "pairs.tsv", "--license", "mit"), "are written into a dataset only"),
    ):
        assert run(*arguments) == 1
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("topkapi: ")
        assert says in captured.err
        assert captured.err.count("\n") == 1
        assert sorted(os.listdir(folder)) == before


def test_a_file_is_replaced_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = folder / "pairs.tsv"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("topkapi.app.services.results.exports.source.queries.logs_of", fail)
    assert run("tulips", "pairs.tsv", "--out", str(path)) == 1
    assert path.read_text() == "before"
    assert not (folder / "pairs.tsv.part").exists()


def test_help_has_an_example_and_names_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Example: topkapi export" in shown
    assert "preferences.jsonl" in shown

import gzip
import os
from pathlib import Path

import pytest

from tests.commands import Command
from tests.databases import transaction_on
from tests.exporting import make_judged_study
from topkapi.analysis.data import read_topk
from topkapi.app.cli import main


@pytest.fixture
def folder(database_url: str, folder_of_commands: Path) -> Path:
    """Run the commands in this folder, on a database with a judged study."""
    with transaction_on(database_url) as session:
        make_judged_study(session)
    return folder_of_commands


@pytest.fixture
def export(topkapi: Command) -> Command:
    return topkapi.of("export")


def test_a_file_is_written_and_what_is_complete_is_said(folder: Path, export: Command) -> None:
    output = export.done("tulips", "topk.jsonl", "--out", "truth.jsonl")
    size = (folder / "truth.jsonl").stat().st_size
    assert output == f"{size} bytes written to truth.jsonl (pairs: 3 of 5 finished)\n"
    assert len(read_topk("truth.jsonl", complete_only=True)) == 3


def test_a_packed_file_holds_the_same_and_is_the_same_each_time(
    folder: Path, export: Command
) -> None:
    for name in ("a.jsonl", "a.jsonl.gz", "b.jsonl.gz"):
        export.done("tulips", "topk.jsonl", "--out", name)
    packed = (folder / "a.jsonl.gz").read_bytes()
    assert gzip.decompress(packed) == (folder / "a.jsonl").read_bytes()
    assert packed == (folder / "b.jsonl.gz").read_bytes()
    assert read_topk("a.jsonl.gz") == read_topk("a.jsonl")


@pytest.mark.usefixtures("folder")
def test_standard_output_has_the_bytes_alone(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["export", "tulips", "pairs.tsv"])
    assert end.value.code == 0
    captured = capsysbinary.readouterr()
    assert captured.out.startswith(b"query\ta\tb\tpreference\tassessor\nq0\t")
    assert captured.err == b"pairs: 3 of 5 finished\n"


@pytest.mark.usefixtures("folder")
def test_programs_are_answered_in_json(export: Command) -> None:
    output = export.told("tulips", "judgments.jsonl", "--out", "log.jsonl")
    assert (output["format"], output["complete"]) == ("judgments.jsonl", False)
    assert {each["tool"]: each["withdrawn"] for each in output["tools"]} == {
        "pairs": 1,
        "grades": 0,
    }


def test_refusals_are_one_line_and_leave_no_file(folder: Path, export: Command) -> None:
    before = sorted(os.listdir(folder))
    for arguments, says in (
        (("roses", "qrels"), "There is no study 'roses'."),
        (("tulips", "qrel"), "There is no export 'qrel'. Choose one of topk.jsonl, topk.parquet"),
        (("tulips", "qrels", "--assessor", "Eve"), "No assessor 'Eve' has work in this study"),
        (("tulips", "pairs.tsv", "--out", "no/folder/x"), "the folder no/folder does not exist"),
        (("tulips", "pairs.tsv", "--out", "."), "Is a directory"),
        (("tulips", "pairs.tsv", "--license", "mit"), "are written into a dataset only"),
    ):
        assert says in export.refused(*arguments)
        assert sorted(os.listdir(folder)) == before


def test_a_file_is_replaced_whole_or_not_at_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch, export: Command
) -> None:
    path = folder / "pairs.tsv"
    path.write_text("before")

    def fail(*_: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("topkapi.app.services.results.exports.source._logs_of", fail)
    assert export("tulips", "pairs.tsv", "--out", str(path))[0] == 1
    assert path.read_text() == "before"
    assert not (folder / "pairs.tsv.part").exists()


def test_help_has_an_example_and_names_the_formats(export: Command) -> None:
    shown = " ".join(export.done("--help").split())
    assert "Example: topkapi export" in shown
    assert "preferences.jsonl" in shown

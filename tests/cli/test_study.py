import json
import os
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.services.importing.test_collections import antique, beir
from tests.studies import STUDY, small_study, write_jsonl, zipped
from topkapi.app.cli import main
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Study
from topkapi.app.services.studies.edit_study import change_study
from topkapi.app.services.studies.full_copy import write_copy


class Topkapi:
    """Runs commands on a separate database."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        captured = self._capsys.readouterr()
        assert isinstance(end.value.code, int)
        return end.value.code, captured.out, captured.err


@pytest.fixture
def topkapi(
    database_url: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Topkapi:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    return Topkapi(capsys)


def test_a_study_is_tried_imported_and_listed(topkapi: Topkapi, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    archive = tmp_path / "study.zip"
    archive.write_bytes(zipped(folder))
    code, out, _ = topkapi("study", "import", str(archive), "--dry-run")
    assert code == 0
    assert "would import 'Small study'" in out
    assert topkapi("study", "list")[1].startswith("no studies yet")
    code, out, _ = topkapi("study", "import", str(archive), "--json")
    assert code == 0
    report = json.loads(out)
    assert (report["slug"], report["candidates"], report["dry_run"]) == ("small", 6, False)
    (listed,) = json.loads(topkapi("study", "list", "--json")[1])
    assert (listed["slug"], listed["queries"], listed["documents"]) == ("small", 2, 6)
    head, line = topkapi("study", "list")[1].splitlines()
    assert head.split()[:3] == ["slug", "queries", "documents"]
    assert line.split()[:3] == ["small", "2", "6"]


def test_an_unchanged_study_is_refused_as_such(topkapi: Topkapi, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    assert topkapi("study", "import", str(folder))[0] == 0
    code, out, err = topkapi("study", "import", str(folder))
    assert (code, out) == (1, "")
    assert err == (
        "topkapi: The study 'small' already exists, and these files contain nothing new.\n"
    )


def test_problems_come_one_a_line(topkapi: Topkapi, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    write_jsonl(folder / "queries.jsonl", [{"id": "q0", "text": ""}, {"id": "q1"}])
    code, out, err = topkapi("study", "import", str(folder))
    assert (code, out) == (1, "")
    lines = err.splitlines()
    assert lines[0].startswith("topkapi: queries.jsonl: 2 different problems; the first: ")
    assert lines[1].startswith("topkapi: queries.jsonl, line 1, text: ")
    assert lines[2].startswith("topkapi: queries.jsonl, line 2, text: ")
    assert "nothing was imported" in lines[-1]
    assert topkapi("study", "list")[1].startswith("no studies yet")


def test_a_path_that_is_not_there_is_named(topkapi: Topkapi) -> None:
    code, _, err = topkapi("study", "import", "nowhere.zip")
    assert (code, err) == (1, "topkapi: There is no file or folder nowhere.zip.\n")


@pytest.mark.thorough
def test_the_demo_loads_into_an_empty_database_only(topkapi: Topkapi) -> None:
    code, out, _ = topkapi("demo", "--if-empty")
    assert code == 0
    assert "anna@demo.example" in out
    assert "password: " in out
    code, again, _ = topkapi("demo", "--if-empty")
    assert code == 0
    assert "nothing was loaded" in again
    assert "anna@demo.example" in again
    assert len(json.loads(topkapi("demo", "--if-empty", "--json")[1])["sign_ins"]) == 7
    code, _, err = topkapi("demo")
    assert code == 1
    assert "already loaded" in err


def test_edits_are_kept_or_replaced_by_choice(topkapi: Topkapi, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    assert topkapi("study", "import", str(folder))[0] == 0
    engine = make_engine(os.environ["TOPKAPI_DATABASE_URL"])
    with make_sessions(engine).write.begin() as session:
        change_study(session, session.scalars(select(Study)).one(), name="Edited")
    engine.dispose()
    (folder / "study.toml").write_text(STUDY.replace("Small study", "Third"))
    code, _, err = topkapi("study", "import", str(folder))
    assert code == 1
    assert 'study.toml, line 1, name: The name is "Third" here, but "Edited" in the study.' in err
    code, out, _ = topkapi("study", "import", str(folder), "--edits", "replace", "--dry-run")
    assert "name was edited in the study: replaced by what the files have" in out
    code, out, _ = topkapi("study", "import", str(folder), "--edits", "keep")
    assert (code, "would" in out) == (0, False)
    assert "name was edited in the study: the edit is kept" in out
    assert "Edited" in topkapi("study", "list")[1]


@pytest.mark.thorough
def test_a_full_copy_is_imported(topkapi: Topkapi, tmp_path: Path) -> None:
    assert topkapi("study", "import", str(small_study(tmp_path / "study")))[0] == 0
    engine = make_engine(os.environ["TOPKAPI_DATABASE_URL"])
    path = tmp_path / "copy.zip"
    with make_sessions(engine).read() as session:
        write_copy(session, session.scalars(select(Study)).one(), path)
    engine.dispose()
    code, _, err = topkapi("study", "import", str(path))
    assert (code, "--slug NAME" in err) == (1, True)
    code, out, _ = topkapi("study", "import", str(path), "--slug", "second", "--dry-run")
    assert (code, out.startswith("second: would restore 'Small study'")) == (0, True)
    assert topkapi("study", "import", str(path), "--slug", "second")[0] == 0
    assert [row["slug"] for row in json.loads(topkapi("study", "list", "--json")[1])] == [
        "small",
        "second",
    ]
    code, _, err = topkapi("restore", str(path))
    assert (code, "topkapi study import" in err) == (1, True)


REAL = {
    "TREC-DL19-text": ("43 queries", ""),
    "TREC-DL21-text --pool 10": ("53 queries", "candidates from the first 10 of runs-judged"),
    "MQ2008": ("784 queries", "candidates from Fold1/test.txt.gz, Fold2/test.txt.gz"),
    "OHSUMED": ("106 queries", "as feature cards"),
    "MSLR-sample": ("43 queries", "recognised by its content"),
    "cacm-html --leave-out missing": ("52 queries", "55 candidates left out: their documents"),
}


@pytest.mark.thorough
@pytest.mark.parametrize("command", REAL)
def test_a_real_collection_becomes_a_study_with_one_command(topkapi: Topkapi, command: str) -> None:
    name, *options = command.split()
    folder = Path(__file__).parents[3] / "shared" / "data" / name
    if not folder.is_dir():
        pytest.skip(f"the collection is not here: {folder}")
    count, said = REAL[command]
    part = ("--queries", "2", "--candidates", "5")
    code, out, err = topkapi("study", "import", str(folder), *options, *part)
    assert (code, err) == (0, "")
    assert f"2 of {count} with candidates were taken" in out
    assert "2 queries (2 new), " in out
    assert said in out
    guide = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    assert f"topkapi study import {command}\n" in guide


@pytest.mark.thorough
def test_raw_files_become_a_study_with_one_command(topkapi: Topkapi, tmp_path: Path) -> None:
    folder = antique(tmp_path / "antique")
    arguments = ("study", "import", str(folder), "--queries", "20", "--candidates", "30")
    code, out, err = topkapi(*arguments)
    assert (code, err) == (0, "")
    assert "antique: imported 'antique' (pairs; k = 10, heap)" in out
    assert "20 queries (20 new), 600 documents (600 new), 600 candidates (600 new)" in out
    assert "20 of 200 queries with candidates were taken" in out


def test_a_beir_folder_becomes_a_study_with_one_command(topkapi: Topkapi, tmp_path: Path) -> None:
    code, out, err = topkapi("study", "import", str(beir(tmp_path / "b")), "--name", "SciFact")
    assert (code, err) == (0, "")
    assert "scifact: imported 'SciFact'" in out
    assert "candidates from qrels/test.tsv (tsv)" in out


def test_a_new_study_is_a_folder_to_edit_that_can_be_imported(topkapi: Topkapi) -> None:
    code, out, _ = topkapi("study", "new", "Cut tulips")
    assert code == 0
    assert "topkapi study import cut-tulips" in out
    assert topkapi("study", "import", "cut-tulips")[0] == 0
    (listed,) = json.loads(topkapi("study", "list", "--json")[1])
    assert (listed["slug"], listed["name"], listed["queries"]) == ("cut-tulips", "Cut tulips", 2)


def test_a_new_study_replaces_no_file(topkapi: Topkapi, tmp_path: Path) -> None:
    (tmp_path / "tulips").mkdir()
    code, _, err = topkapi("study", "new", "tulips")
    assert code == 1
    assert "already exists" in err
    assert list((tmp_path / "tulips").iterdir()) == []

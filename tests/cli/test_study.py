import os
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.commands import Command
from tests.databases import transaction_on
from tests.services.importing.test_collections import antique, beir
from tests.studies import STUDY, small_study, write_jsonl, zipped
from topkapi.app.db.models import Study
from topkapi.app.services.studies.edit_study import change_study
from topkapi.app.services.studies.full_copy import write_copy

pytestmark = pytest.mark.usefixtures("folder_of_commands")


def test_a_study_is_tried_imported_and_listed(topkapi: Command, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    archive = tmp_path / "study.zip"
    archive.write_bytes(zipped(folder))
    tried = topkapi.done("study", "import", str(archive), "--dry-run")
    assert "would import 'Small study'" in tried
    assert topkapi("study", "list")[1].startswith("no studies yet")
    report = topkapi.told("study", "import", str(archive))
    assert (report["slug"], report["candidates"], report["dry_run"]) == ("small", 6, False)
    (listed,) = topkapi.told("study", "list")
    assert (listed["slug"], listed["queries"], listed["documents"]) == ("small", 2, 6)
    head, line = topkapi("study", "list")[1].splitlines()
    assert head.split()[:3] == ["slug", "queries", "documents"]
    assert line.split()[:3] == ["small", "2", "6"]


def test_an_unchanged_study_is_refused_as_such(topkapi: Command, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    assert topkapi("study", "import", str(folder))[0] == 0
    assert topkapi.refused("study", "import", str(folder)) == (
        "topkapi: The study 'small' already exists, and these files contain nothing new.\n"
    )


def test_problems_come_one_a_line(topkapi: Command, tmp_path: Path) -> None:
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


def test_a_path_that_is_not_there_is_named(topkapi: Command) -> None:
    refused = topkapi.refused("study", "import", "nowhere.zip")
    assert refused == "topkapi: There is no file or folder nowhere.zip.\n"


@pytest.mark.thorough
def test_the_demo_loads_into_an_empty_database_only(topkapi: Command) -> None:
    out = topkapi.done("demo", "--if-empty")
    assert "anna@demo.example" in out
    assert "password: " in out
    again = topkapi.done("demo", "--if-empty")
    assert "nothing was loaded" in again
    assert "anna@demo.example" in again
    assert len(topkapi.told("demo", "--if-empty")["sign_ins"]) == 7
    assert "already loaded" in topkapi.refused("demo")


def test_edits_are_kept_or_replaced_by_choice(topkapi: Command, tmp_path: Path) -> None:
    folder = small_study(tmp_path / "study")
    assert topkapi("study", "import", str(folder))[0] == 0
    with transaction_on(os.environ["TOPKAPI_DATABASE_URL"]) as session:
        change_study(session, session.scalars(select(Study)).one(), name="Edited")
    (folder / "study.toml").write_text(STUDY.replace("Small study", "Third"))
    code, _, err = topkapi("study", "import", str(folder))
    assert code == 1
    assert 'study.toml, line 1, name: The name is "Third" here, but "Edited" in the study.' in err
    out = topkapi.done("study", "import", str(folder), "--edits", "replace", "--dry-run")
    assert "name was edited in the study: replaced by what the files have" in out
    out = topkapi.done("study", "import", str(folder), "--edits", "keep")
    assert "would" not in out
    assert "name was edited in the study: the edit is kept" in out
    assert "Edited" in topkapi("study", "list")[1]


@pytest.mark.thorough
def test_a_full_copy_is_imported(topkapi: Command, tmp_path: Path) -> None:
    assert topkapi("study", "import", str(small_study(tmp_path / "study")))[0] == 0
    path = tmp_path / "copy.zip"
    with transaction_on(os.environ["TOPKAPI_DATABASE_URL"]) as session:
        write_copy(session, session.scalars(select(Study)).one(), path)
    assert "--slug NAME" in topkapi.refused("study", "import", str(path))
    tried = topkapi.done("study", "import", str(path), "--slug", "second", "--dry-run")
    assert tried.startswith("second: would restore 'Small study'")
    assert topkapi("study", "import", str(path), "--slug", "second")[0] == 0
    assert [row["slug"] for row in topkapi.told("study", "list")] == ["small", "second"]
    assert "topkapi study import" in topkapi.refused("restore", str(path))


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
def test_a_real_collection_becomes_a_study_with_one_command(topkapi: Command, command: str) -> None:
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
def test_raw_files_become_a_study_with_one_command(topkapi: Command, tmp_path: Path) -> None:
    folder = antique(tmp_path / "antique")
    arguments = ("study", "import", str(folder), "--queries", "20", "--candidates", "30")
    code, out, err = topkapi(*arguments)
    assert (code, err) == (0, "")
    assert "antique: imported 'antique' (pairs; k = 10, heap)" in out
    assert "20 queries (20 new), 600 documents (600 new), 600 candidates (600 new)" in out
    assert "20 of 200 queries with candidates were taken" in out


def test_a_beir_folder_becomes_a_study_with_one_command(topkapi: Command, tmp_path: Path) -> None:
    code, out, err = topkapi("study", "import", str(beir(tmp_path / "b")), "--name", "SciFact")
    assert (code, err) == (0, "")
    assert "scifact: imported 'SciFact'" in out
    assert "candidates from qrels/test.tsv (tsv)" in out


def test_a_new_study_is_a_folder_to_edit_that_can_be_imported(topkapi: Command) -> None:
    assert "topkapi study import cut-tulips" in topkapi.done("study", "new", "Cut tulips")
    assert topkapi("study", "import", "cut-tulips")[0] == 0
    (listed,) = topkapi.told("study", "list")
    assert (listed["slug"], listed["name"], listed["queries"]) == ("cut-tulips", "Cut tulips", 2)


def test_a_new_study_replaces_no_file(topkapi: Command, tmp_path: Path) -> None:
    (tmp_path / "tulips").mkdir()
    assert "already exists" in topkapi.refused("study", "new", "tulips")
    assert list((tmp_path / "tulips").iterdir()) == []

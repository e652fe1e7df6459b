import json
from pathlib import Path

import pytest

from tests.commands import Command
from tests.databases import transaction_on
from tests.exporting import make_judged_study

ROWS = "q1 a b a\nq1 b c b\nq2 a b b\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "crowd.pref").write_text(ROWS, encoding="utf-8")
    (tmp_path / "local.pref").write_text(ROWS.replace("q2 a b b", "q2 a b a"), encoding="utf-8")
    return [str(tmp_path / "crowd.pref"), str(tmp_path / "local.pref")]


@pytest.fixture
def report(topkapi: Command) -> Command:
    return topkapi.of("report")


@pytest.mark.thorough
def test_files_become_a_folder_with_a_page(
    files: list[str], tmp_path: Path, report: Command
) -> None:
    out = tmp_path / "made" / "here"
    output = report.done("--from", *files, "--out", str(out))
    assert "3 shared votes" in output
    assert "0.6667" in output
    assert (out / "report.html").exists()


def test_json_is_the_report_itself(files: list[str], tmp_path: Path, report: Command) -> None:
    out = str(tmp_path / "out")
    found = report.told("--from", files[0], "--from", files[1], "--out", out, "--no-plots")
    assert found == json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert not list((tmp_path / "out").glob("*.svg"))


def test_faults_are_one_line_and_not_0(tmp_path: Path, report: Command) -> None:
    absent = str(tmp_path / "absent")
    for arguments, reason in (
        (("--from", absent), "cannot be read"),
        ((), "give the slug of one study"),
        (("tulips", "roses"), "--from"),
        (("tulips", "--k", "3"), "--k work only for files"),
        (("--from", absent, "--pseudonyms"), "--pseudonyms works only for a study"),
    ):
        assert reason in report.refused(*arguments)


@pytest.mark.thorough
@pytest.mark.usefixtures("folder_of_commands")
def test_a_study_is_reported_with_what_it_lacks(
    database_url: str, tmp_path: Path, report: Command
) -> None:
    with transaction_on(database_url) as session:
        make_judged_study(session)
    out = str(tmp_path / "out")
    output = report.done("tulips", "--out", out, "--no-plots", "--pseudonyms")
    assert output.startswith(
        "The study is running (grades: 3 of 3 finished; pairs: 3 of 5 finished)"
    )
    assert "T1 pairs: 21 shared votes" in output
    assert "assessor-01" in (tmp_path / "out" / "report.html").read_text("utf-8")
    said = report.refused("roses", "--out", str(tmp_path / "none"))
    assert said.startswith("topkapi: There is no study 'roses'. The database is ")
    assert not (tmp_path / "none").exists()

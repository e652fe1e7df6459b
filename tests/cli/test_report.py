import json
from pathlib import Path

import pytest

from tests.exporting import make_judged_study
from topkapi.app.cli import main
from topkapi.app.db.engine import make_engine, make_sessions

ROWS = "q1 a b a\nq1 b c b\nq2 a b b\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "crowd.pref").write_text(ROWS, encoding="utf-8")
    (tmp_path / "local.pref").write_text(ROWS.replace("q2 a b b", "q2 a b a"), encoding="utf-8")
    return [str(tmp_path / "crowd.pref"), str(tmp_path / "local.pref")]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["report", *arguments])
    code = ended.value.code
    assert isinstance(code, int)
    return code


@pytest.mark.thorough
def test_files_become_a_folder_with_a_page(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "made" / "here"
    assert run("--from", *files, "--out", str(out)) == 0
    output = capsys.readouterr().out
    assert "3 shared votes" in output
    assert "0.6667" in output
    assert (out / "report.html").exists()


def test_json_is_the_report_itself(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    assert run("--from", files[0], "--from", files[1], "--out", out, "--json", "--no-plots") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == json.loads((tmp_path / "out" / "report.json").read_text("utf-8"))
    assert not list((tmp_path / "out").glob("*.svg"))


def test_faults_are_one_line_and_not_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--from", str(tmp_path / "absent")) == 1
    assert run() == 1
    assert run("tulips", "roses") == 1
    assert run("tulips", "--k", "3") == 1
    assert run("--from", str(tmp_path / "absent"), "--pseudonyms") == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 5
    assert "cannot be read" in lines[0]
    assert "give the slug of one study" in lines[1]
    assert "--from" in lines[2]
    assert "--k work only for files" in lines[3]
    assert "--pseudonyms works only for a study" in lines[4]


@pytest.mark.thorough
def test_a_study_is_reported_with_what_it_lacks(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        make_judged_study(session)
    engine.dispose()
    assert run("tulips", "--out", str(tmp_path / "out"), "--no-plots", "--pseudonyms") == 0
    output = capsys.readouterr().out
    assert output.startswith(
        "The study is running (grades: 3 of 3 finished; pairs: 3 of 5 finished)"
    )
    assert "T1 pairs: 21 shared votes" in output
    assert "assessor-01" in (tmp_path / "out" / "report.html").read_text("utf-8")
    assert run("roses", "--out", str(tmp_path / "none")) == 1
    said = capsys.readouterr().err
    assert said.startswith("topkapi: There is no study 'roses'. The database is ")
    assert not (tmp_path / "none").exists()

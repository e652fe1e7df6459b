"""`topkapi plan`: cost and quality of a study that is not yet made."""

import json
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.factories import make_study
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.study import StudySettings

HEAP = ("plan", "--sorter", "heap", "--runs", "50", "--processes", "1")


def test_a_plan_says_questions_hours_quality_and_queries(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ("--queries", "30", "--n", "20", "--k", "5", "--people", "3", "--seconds", "10")
    code, out, _ = run_command(
        capsys, [*HEAP, *asked, "--lists", "2", "--difference", "0.05", "--goal", "0.5", "--json"]
    )
    found = json.loads(out)
    (line,) = found["efforts"]
    assert code == 0
    assert line["questions"] == pytest.approx(60 * line["questions_per_list"], abs=3)
    assert line["hours"] == pytest.approx(line["questions"] / 360, abs=0.1)
    assert line["hours_per_person"] == pytest.approx(line["hours"] / 3, abs=0.1)
    assert found["chosen"] == line
    assert found["queries_to_tell_apart"] == 128
    code, out, _ = run_command(capsys, [*HEAP, *asked, "--goal", "0.999"])
    assert "30 queries of 20 documents, top 5, 30 lists, 3 people, 10 s per question" in out
    assert "No line reaches 0.999" in out


def test_a_study_gives_its_size(
    capsys: pytest.CaptureFixture[str],
    sqlite_url: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", sqlite_url)
    monkeypatch.chdir(tmp_path)
    engine = make_engine(sqlite_url)
    with make_sessions(engine).write.begin() as session:
        study = make_study(session, slug="tulips", queries=4, documents=7)
        study.settings = StudySettings(k=2)
    engine.dispose()
    code, out, _ = run_command(capsys, [*HEAP, "--study", "tulips"])
    assert code == 0
    assert "4 queries of 7 documents, top 2, 4 lists, 1 person, 20 s per question" in out


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--team", "3"], "--team: 3 people make a list together, of 1 in all."),
        (["--sorter", "bogo"], "--sorter: 'bogo' is not one of"),
        (["--votes", "v.tsv", "--prior", "0.5"], "--prior needs simulated people"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    code, _, said = run_command(capsys, ["plan", *arguments])
    assert code == 1
    assert problem in said
    assert said.count("\n") == 1

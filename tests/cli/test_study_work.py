"""`topkapi study assign`, `progress`, `archive`, and `topkapi users invite`."""

import json
from pathlib import Path

import pytest

from tests.commands import run_command
from tests.factories import make_study, make_user
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.web.progress.api import LineOut

EMAILS = [f"p{number}@x.example" for number in range(4)]


@pytest.fixture(autouse=True)
def _study(sqlite_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", sqlite_url)
    monkeypatch.chdir(tmp_path)
    engine = make_engine(sqlite_url)
    with make_sessions(engine).write.begin() as session:
        study = make_study(session, slug="tulips", queries=4)
        study.settings = StudySettings(k=2, tools=(Tool.PAIRS, Tool.GRADES))
        for email in EMAILS:
            make_user(session, email=email)
    engine.dispose()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return run_command(capsys, [*arguments])


def to(emails: list[str]) -> list[str]:
    return [part for email in emails for part in ("--to", email)]


def test_a_rotation_is_said_then_made(capsys: pytest.CaptureFixture[str]) -> None:
    assign = ("study", "assign", "tulips", *to(EMAILS), "--rounds", "2")
    code, out, _ = run(capsys, *assign, "--dry-run")
    head, columns, *loads, last = out.splitlines()
    assert (code, head) == (0, "tulips: 16 assignments would be created")
    assert columns.split() == ["assessor", "pairs", "grades", "all"]
    assert [line.split() for line in loads] == [[email, "2", "2", "4"] for email in EMAILS]
    assert "--json" in last
    code, out, _ = run(capsys, *assign, "--json")
    assert (code, len(json.loads(out)["work"])) == (0, 16)
    assert "and all of these are assigned" in run(capsys, *assign)[1]
    code, out, _ = run(capsys, "study", "progress", "tulips", "--json")
    seen = json.loads(out)
    assert (seen["assigned"], seen["expected_left"], len(seen["assessors"])) == (16, None, 4)
    assert {*LineOut.model_fields} <= {*seen}, "the API has other names"
    assert "0 of 16 finished" in run(capsys, "study", "progress", "tulips")[1]


def test_refusals_are_one_line_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "study", "assign", "tulips", *to(EMAILS[:1]))
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "cannot serve 2 tools" in err
    assert run(capsys, "study", "assign", "tulips")[0] == 1
    assert "no study 'roses'" in run(capsys, "study", "progress", "roses")[2]


def test_a_csv_file_names_its_bad_lines(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "work.csv"
    path.write_text("query,assessor,tool\nq0,p0@x.example,pairs\nq9,p0@x.example,pairs\n")
    code, _, err = run(capsys, "study", "assign", "tulips", "--csv", str(path))
    assert code == 1
    assert "work.csv, line 3, query: There is no query 'q9'" in err
    path.write_text("query,assessor,tool\nq0,p0@x.example,pairs\n")
    _, out, _ = run(capsys, "study", "assign", "tulips", "--csv", str(path), "--dry-run", "--json")
    assert len(json.loads(out)["work"]) == 1
    assert "0 of 0" in run(capsys, "study", "progress", "tulips")[1]
    assert run(capsys, "study", "assign", "tulips", "--csv", str(path))[0] == 0
    assert "0 of 1" in run(capsys, "study", "progress", "tulips")[1]


def test_a_study_is_archived_and_taken_up_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "study", "archive", "tulips") == (0, "tulips is archived\n", "")
    assert "archived" in run(capsys, "study", "assign", "tulips", *to(EMAILS))[2]
    _, out, _ = run(capsys, "study", "archive", "tulips", "--undo", "--json")
    assert json.loads(out) == {"slug": "tulips", "archived": False}


def test_an_invitation_is_a_link(capsys: pytest.CaptureFixture[str]) -> None:
    invite = ("users", "invite", "ansa@x.example", "--base-url", "https://labels.example/")
    code, _, err = run(capsys, *invite)
    assert (code, "name of 1 to 200" in err) == (1, True)
    _, out, _ = run(capsys, *invite, "--name", "Ansa", "--json")
    made = json.loads(out)
    assert made["url"].startswith("https://labels.example/invitations/")
    again = run(capsys, *invite)[1].strip()
    assert again != made["url"]


def test_people_of_a_file_are_invited_together_or_not_at_all(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    invite = ("users", "invite", "--csv", str(path))
    for text, why in (
        ("mail,name\na@y.example,A\n", "must name the columns"),
        ("email,name\na@y.example,A\nb@y.example,\n", "line 3: "),
        ("email,name\na@y.example,A\nnobody,B\n", "line 3: "),
    ):
        path.write_text(text)
        code, out, err = run(capsys, *invite)
        assert (code, out, why in err) == (1, "", True), err
    assert "a@y.example" not in run(capsys, "users", "list")[1]
    path.write_text("\ufeffname,email\nAnsa Lehto,a@y.example\n=Bao,b@y.example\n")
    code, out, _ = run(capsys, *invite)
    head, ansa, bao = out.splitlines()
    assert (code, head) == (0, "email,name,url")
    assert ansa.startswith("a@y.example,Ansa Lehto,http://localhost:8000/invitations/")
    assert bao.startswith("b@y.example,'=Bao,")
    assert "--csv" in run(capsys, "users", "invite")[2]

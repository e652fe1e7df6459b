"""`topkapi study assign`, `progress`, `archive`, and `topkapi users invite`."""

from dataclasses import fields
from pathlib import Path

import pytest

from tests.commands import Command
from tests.databases import transaction_on
from tests.factories import BOTH, make_study, make_user
from topkapi.app.services.progress.study_progress import Figures

pytestmark = pytest.mark.usefixtures("sqlite_folder_of_commands")
EMAILS = [f"p{number}@x.example" for number in range(4)]


@pytest.fixture(autouse=True)
def _study(sqlite_url: str) -> None:
    with transaction_on(sqlite_url) as session:
        make_study(session, slug="tulips", queries=4, k=2, tools=BOTH)
        for email in EMAILS:
            make_user(session, email=email)


def to(emails: list[str]) -> list[str]:
    return [part for email in emails for part in ("--to", email)]


def test_a_rotation_is_said_then_made(topkapi: Command) -> None:
    assign = ("study", "assign", "tulips", *to(EMAILS), "--rounds", "2")
    head, columns, *loads, last = topkapi.done(*assign, "--dry-run").splitlines()
    assert head == "tulips: 16 assignments would be created"
    assert columns.split() == ["assessor", "pairs", "grades", "all"]
    assert [line.split() for line in loads] == [[email, "2", "2", "4"] for email in EMAILS]
    assert "--json" in last
    assert len(topkapi.told(*assign)["work"]) == 16
    assert "and all of these are assigned" in topkapi(*assign)[1]
    seen = topkapi.told("study", "progress", "tulips")
    assert (seen["assigned"], seen["expected_left"], len(seen["assessors"])) == (16, None, 4)
    assert {each.name for each in fields(Figures)} <= {*seen}, "the API has other names"
    assert "0 of 16 finished" in topkapi("study", "progress", "tulips")[1]


def test_refusals_are_one_line_with_the_reason(topkapi: Command) -> None:
    assign = ("study", "assign", "tulips")
    assert "cannot serve 2 tools" in topkapi.refused(*assign, *to(EMAILS[:1]))
    assert topkapi(*assign)[0] == 1
    assert "no study 'roses'" in topkapi.refused("study", "progress", "roses")


def test_a_csv_file_names_its_bad_lines(topkapi: Command, tmp_path: Path) -> None:
    path = tmp_path / "work.csv"
    path.write_text("query,assessor,tool\nq0,p0@x.example,pairs\nq9,p0@x.example,pairs\n")
    code, _, err = topkapi("study", "assign", "tulips", "--csv", str(path))
    assert code == 1
    assert "work.csv, line 3, query: There is no query 'q9'" in err
    path.write_text("query,assessor,tool\nq0,p0@x.example,pairs\n")
    assign = ("study", "assign", "tulips", "--csv", str(path))
    assert len(topkapi.told(*assign, "--dry-run")["work"]) == 1
    assert "0 of 0" in topkapi("study", "progress", "tulips")[1]
    assert topkapi(*assign)[0] == 0
    assert "0 of 1" in topkapi("study", "progress", "tulips")[1]


def test_a_study_is_archived_and_taken_up_again(topkapi: Command) -> None:
    assert topkapi("study", "archive", "tulips") == (0, "tulips is archived\n", "")
    assert "archived" in topkapi("study", "assign", "tulips", *to(EMAILS))[2]
    opened = topkapi.told("study", "archive", "tulips", "--undo")
    assert opened == {"slug": "tulips", "archived": False}


def test_an_invitation_is_a_link(topkapi: Command) -> None:
    invite = ("users", "invite", "ansa@x.example", "--base-url", "https://labels.example/")
    assert "name of 1 to 200" in topkapi.refused(*invite)
    made = topkapi.told(*invite, "--name", "Ansa")
    assert made["url"].startswith("https://labels.example/invitations/")
    again = topkapi(*invite)[1].strip()
    assert again != made["url"]


def test_people_of_a_file_are_invited_together_or_not_at_all(
    topkapi: Command, tmp_path: Path
) -> None:
    path = tmp_path / "people.csv"
    invite = ("users", "invite", "--csv", str(path))
    for text, why in (
        ("mail,name\na@y.example,A\n", "must name the columns"),
        ("email,name\na@y.example,A\nb@y.example,\n", "line 3: "),
        ("email,name\na@y.example,A\nnobody,B\n", "line 3: "),
    ):
        path.write_text(text)
        assert why in topkapi.refused(*invite)
    assert "a@y.example" not in topkapi("users", "list")[1]
    path.write_text("\ufeffname,email\nAnsa Lehto,a@y.example\n=Bao,b@y.example\n")
    head, ansa, bao = topkapi.done(*invite).splitlines()
    assert head == "email,name,url"
    assert ansa.startswith("a@y.example,Ansa Lehto,http://localhost:8000/invitations/")
    assert bao.startswith("b@y.example,'=Bao,")
    assert "--csv" in topkapi("users", "invite")[2]

"""Every table of the administration as a CSV file; the table of work can be imported again."""

import csv
import io

import httpx
import pytest

from tests.exporting import make_judged_study
from tests.factories import Enter
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.enums import Role
from topkapi.app.services.progress.tables import STUDY_TABLES, TABLES


@pytest.fixture
def admin(client: httpx.Client, sessions: Sessions, enter: Enter) -> httpx.Client:
    with sessions.write.begin() as session:
        make_judged_study(session)
    enter(role=Role.ADMIN, name="=cmd()")
    return client


def rows(client: httpx.Client, path: str) -> list[dict[str, str]]:
    reply = client.get(path)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(reply.text)))


def test_every_table_is_a_file(admin: httpx.Client) -> None:
    for name in TABLES:
        rows(admin, f"/tables/{name}.csv")
    for name in STUDY_TABLES:
        rows(admin, f"/studies/tulips/tables/{name}.csv")
    assert admin.get("/tables/nothing.csv").status_code == 404
    assert admin.get("/studies/tulips/tables/nothing.csv").status_code == 404


def test_formulas_are_escaped(admin: httpx.Client) -> None:
    assert "'=cmd()" in {row["name"] for row in rows(admin, "/tables/people.csv")}


def test_the_table_of_work_counts_rounds_from_one(admin: httpx.Client) -> None:
    found = rows(admin, "/studies/tulips/tables/work.csv")
    assert {row["round_number"] for row in found} >= {"1"}
    assert "round" not in found[0]
    assert {row["state"] for row in found} & {"finished", "begun"}

"""The administration API: people, assignments, progress, the audit log."""

from typing import Any

import httpx
import pytest
from sqlalchemy import select

from tests.factories import BOTH, make_study, make_user, token_headers
from tests.judging import job_of, judge_to_the_end
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment
from topkapi.app.domain.enums import Role, Tool

S = "/api/v1/studies/tulips"


@pytest.fixture
def api(client: httpx.Client, sessions: Sessions) -> httpx.Client:
    """Provide a client with an administrator's token, and a study of four queries and two tools."""
    with sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN, name="Maren")
        make_study(session, slug="tulips", queries=4, documents=5, k=2, tools=BOTH)
        client.headers.update(token_headers(session, admin))
    return client


def post(api: httpx.Client, path: str, status: int, **body: Any) -> Any:
    reply = api.post(path, json=body)
    assert reply.status_code == status, reply.text
    return reply.json()


def invited(api: httpx.Client, count: int) -> list[str]:
    emails = [f"p{number}@x.example" for number in range(count)]
    for email in emails:
        post(api, "/api/v1/users", 201, email=email, name=email[:2].upper())
    return emails


def test_people_by_program(api: httpx.Client) -> None:
    made = post(api, "/api/v1/users", 201, email="a@x.example", name="Ansa")
    number = made["user"]["id"]
    assert "/invitations/" in made["url"]
    assert made["user"]["has_password"] is False
    user = f"/api/v1/users/{number}"
    assert api.patch(user, json={"role": "researcher", "disabled": True}).json()["disabled"] is True
    assert api.patch(user, json={"disabled": False}).json()["role"] == "researcher"
    assert api.patch(user, json={"name": "x"}).status_code == 422
    token = post(api, f"{user}/tokens", 201, name="notebook")
    assert [each["name"] for each in api.get(f"{user}/tokens").json()] == ["notebook"]
    assert api.delete(f"{user}/tokens/{token['id']}").status_code == 204
    assert api.get(f"{user}/tokens").json() == []
    assert post(api, f"{user}/link", 201)["url"] != made["url"]
    found = api.get("/api/v1/users", params={"search": "ansa"})
    assert (found.headers["X-Total-Count"], len(found.json())) == ("1", 1)
    assert api.get("/api/v1/users/999").json()["code"] == "not_found"
    again = api.post("/api/v1/users", json={"email": "a@x.example", "name": "B"})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_a_rotation_by_program_is_said_first_and_given_out_then(
    api: httpx.Client, sessions: Sessions
) -> None:
    emails = invited(api, 4)
    preview = post(api, f"{S}/rotation", 201, assessors=emails, rounds=2, dry_run=True)
    assert len(preview["work"]) == 16
    with sessions.read() as session:
        assert session.scalars(select(Assignment)).all() == []
    made = post(api, f"{S}/rotation", 201, assessors=emails, rounds=2)
    assert made["work"] == preview["work"]
    refused = post(api, f"{S}/rotation", 422, assessors=emails, rounds=3)
    assert "allow 2 rounds" in refused["detail"]
    page = api.get(f"{S}/assignments", params={"limit": 5, "state": "waiting"})
    assert (len(page.json()), page.headers["X-Total-Count"]) == (5, "16")


def test_work_by_hand_by_csv_withdrawn_and_handed_on(api: httpx.Client) -> None:
    invited(api, 3)
    one = {"assessor": "p0@x.example", "query": "q0", "tool": "pairs"}
    made = post(api, f"{S}/assignments", 201, **one)
    broken = post(api, f"{S}/assignments", 409, **{**one, "tool": "grades"})
    assert broken["code"] == "rule_broken"
    assert broken["title"] == "The rule of the rotation forbids this"
    assert "already judges q0 by pairs in round 1" in broken["detail"]
    moved = post(api, f"{S}/assignments/{made['id']}/reassign", 200, assessor="p1@x.example")
    assert (moved["assessor"], moved["state"]) == ("p1@x.example", "waiting")
    assert (moved["round"], moved["round_number"]) == (0, 1)
    second = post(
        api, f"{S}/assignments", 201, assessor="p2@x.example", query="q2", tool="pairs", round=1
    )
    assert (second["round"], second["round_number"]) == (1, 2)
    gone = post(api, f"{S}/assignments/{moved['id']}/withdraw", 200)
    assert gone["state"] == "withdrawn"
    text = "query,assessor,tool,round\nq1,p0@x.example,pairs,1\nq1,p9@x.example,grades,1\n"
    headers = {"Content-Type": "text/csv"}
    refused = api.post(f"{S}/assignments/csv", content=text.encode(), headers=headers)
    assert refused.status_code == 422
    assert refused.json()["problems"] == [
        {"line": 3, "field": "assessor", "problem": "There is no account for 'p9@x.example'."}
    ]
    good = text.replace("p9", "p2").encode()
    made = api.post(f"{S}/assignments/csv", content=good, headers=headers)
    assert (made.status_code, made.json()) == (201, {"assignments": 2})


def test_progress_by_program(api: httpx.Client, client: httpx.Client, sessions: Sessions) -> None:
    emails = invited(api, 4)
    post(api, f"{S}/rotation", 201, assessors=emails, rounds=1)
    assert api.get(f"{S}/progress").json()["expected_left"] is None
    with sessions.write.begin() as session:
        row = session.scalars(select(Assignment).where(Assignment.tool == Tool.PAIRS)).first()
        assert row is not None
        owner = make_user(session)
        row.user_id = owner.id
        job = job_of(session, row)
    judge_to_the_end(client, job)
    seen = api.get(f"{S}/progress").json()
    assert (seen["assigned"], seen["finished"]) == (8, 1)
    assert seen["tools"]["pairs"]["ms_per_answer"] is not None
    people = api.get(f"{S}/progress/assessors", params={"sort": "-finished", "limit": 1})
    assert (people.headers["X-Total-Count"], people.json()[0]["assessor"]) == ("5", owner.email)
    queries = api.get(f"{S}/progress/queries", params={"search": "q1"}).json()
    assert [(each["query"], each["assigned"]) for each in queries] == [("q1", 2)]


@pytest.mark.thorough
def test_a_study_is_archived_and_deleted_by_program(api: httpx.Client) -> None:
    assert api.delete(S, params={"confirm": "tulips"}).status_code == 409
    assert api.patch(S, json={"archived": True}).json() == {"slug": "tulips", "archived": True}
    assert api.post(f"{S}/copy").content[:2] == b"PK"
    assert api.delete(S, params={"confirm": "roses"}).status_code == 422
    rows = api.delete(S, params={"confirm": "tulips"}).json()["rows"]
    assert (rows["queries"], rows["contents"]) == (4, 20)
    acts = api.get("/api/v1/audit", params={"subject": "tulips"})
    assert [act["action"] for act in acts.json()] == ["study.delete", "study.copy", "study.archive"]
    assert acts.headers["X-Total-Count"] == "3"


def test_access_by_program(api: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        rosa = make_user(session, role=Role.RESEARCHER, reads=False)
        ansa = make_user(session)
    place = "/api/v1/studies/tulips/access"
    assert api.put(f"{place}/{rosa.id}").status_code == 204
    assert [each["email"] for each in api.get(place).json()] == [rosa.email]
    refused = api.put(f"{place}/{ansa.id}")
    assert (refused.status_code, "is not a researcher" in refused.text) == (409, True)
    assert api.put(f"{place}/999999").status_code == 404
    assert api.delete(f"{place}/{rosa.id}").status_code == 204
    assert api.get(place).json() == []


def test_what_a_study_holds(api: httpx.Client) -> None:
    queries = api.get(f"{S}/queries", params={"limit": 2, "offset": 1})
    assert [each["id"] for each in queries.json()] == ["q1", "q2"]
    documents = api.get(f"{S}/documents", params={"search": "q3-"})
    assert documents.headers["X-Total-Count"] == "5"
    assert documents.json()[0]["media_type"] == "text/plain"

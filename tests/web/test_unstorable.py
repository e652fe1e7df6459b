"""NUL, lone surrogates and huge integers: 422 for every input, on both databases."""

import json

import httpx
import pytest
from fastapi import FastAPI

from tests.clients import form_token
from tests.factories import PASSWORD, make_study, make_user, sign_in, token_headers
from tests.judging import Job, answer_to, make_job
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.enums import Role

pytestmark = pytest.mark.both

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def admin(app: FastAPI, client: httpx.Client, sessions: Sessions) -> httpx.Client:
    """Sign in an administrator who also has a token."""
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        make_study(session, slug="tulips")
        client.headers.update(token_headers(session, user))
    sign_in(app, client, user)
    return client


@pytest.fixture
def job(sessions: Sessions) -> Job:
    with sessions.write.begin() as session:
        return make_job(session)


FORMS = [
    ("/people", {"email": "a\0@example.org", "name": "A"}, "email"),
    ("/people", {"email": "a@example.org", "name": "A\0"}, "name"),
    ("/people/1/tokens", {"name": "\0"}, "name"),
    ("/studies/tulips/settings", {"name": "T\0"}, "name"),
    ("/studies/tulips/settings", {"grades": "bad\0: x"}, "grades"),
    ("/studies/tulips/guidelines", {"guidelines": "Prefer\0"}, "guidelines"),
    ("/studies/tulips/assign/one", {"email": "\0", "query": "q0"}, "email"),
    ("/studies/tulips/assign", {"people": str(2**70)}, "people"),
    ("/studies/tulips/assign", {"people": "1", "seed": "\0"}, "seed"),
    ("/studies/tulips/delete", {"confirm": "tulips\0"}, "confirm"),
]


def test_forms_name_the_field(admin: httpx.Client) -> None:
    for path, form, field in FORMS:
        reply = admin.post(path, data=form)
        assert (path, field, reply.status_code) == (path, field, 422)
        assert field in reply.text


BODIES = [
    ("POST", "/users", {"email": "a\0@example.org", "name": "A"}, "email"),
    ("POST", "/users", {"email": "a@example.org", "name": "\ud800"}, "name"),
    ("POST", "/users/1/tokens", {"name": "a\0"}, "name"),
    ("PATCH", "/studies/tulips", {"name": "T\0"}, "name"),
    ("PATCH", "/studies/tulips", {"settings": {"k": 10**30}}, "settings"),
    ("PATCH", "/studies/tulips", {"settings": {"\ud800": 1}}, "settings"),
    ("POST", "/studies/tulips/rotation", {"assessors": ["\0"]}, "assessors"),
    ("POST", "/studies/tulips/assignments", {"assessor": "\0", "query": "q"}, "assessor"),
]


def test_bodies_name_the_field(admin: httpx.Client) -> None:
    for method, path, body, field in BODIES:
        sent = json.dumps(body)
        reply = admin.request(method, f"/api/v1{path}", content=sent, headers=JSON)
        assert (path, sent, reply.status_code) == (path, sent, 422)
        assert field in reply.json()["detail"]


ADDRESSES = [
    "/studies/%00",
    "/studies/tulips/queries?search=%00",
    "/studies/tulips/work?search=a%00",
    f"/studies/tulips/assign?people={2**70}",
    f"/people/{2**70}",
    "/people?search=%00",
    "/audit?subject=%00",
    "/static/%00",
    "/pages/a%00/b",
    "/invitations/%00",
    "/sign-in?next=%00",
    "/api/v1/users?search=%00",
    "/api/v1/studies/%00",
    "/api/v1/studies/tulips/documents?search=%00",
    f"/api/v1/studies?offset={2**70}",
    f"/api/v1/assignments/{2**70}",
    f"/api/v1/audit?user_id={2**70}",
]


def test_addresses_are_refused(admin: httpx.Client) -> None:
    for address in ADDRESSES:
        assert (address, admin.get(address).status_code) == (address, 422)


def test_a_header_with_nul_is_refused(client: httpx.Client) -> None:
    reply = client.get("/api/v1/me", headers={"Authorization": "Bearer a\0"})
    assert (reply.status_code, "authorization" in reply.json()["detail"]) == (422, True)


def test_sign_in_with_nul_is_refused(client: httpx.Client) -> None:
    token = form_token(client.get("/sign-in"))
    form = {"email": "a\0@example.org", "password": PASSWORD, "csrf_token": token}
    assert client.post("/sign-in", data=form).status_code == 422


@pytest.mark.parametrize("note", ["a\0b", "\ud800"])
def test_a_note_with_nul_writes_nothing(client: httpx.Client, job: Job, note: str) -> None:
    state = client.get(job.url, headers=job.headers).json()
    body = {**answer_to(state), "note": note}
    reply = client.post(
        f"{job.url}/judgments", headers=job.headers | JSON, content=json.dumps(body)
    )
    assert (reply.status_code, "note" in reply.json()["detail"]) == (422, True)
    assert client.get(job.url, headers=job.headers).json()["position"] == 0


def test_an_unknown_field_with_a_surrogate_is_named(client: httpx.Client, job: Job) -> None:
    reply = client.post(
        f"{job.url}/undo", headers=job.headers | JSON, content=rb'{"position": 0, "\ud800": 1}'
    )
    assert reply.status_code == 422


def test_a_csv_with_nul_is_refused(admin: httpx.Client) -> None:
    data = b"query,assessor,tool,round\nq\x000,a@example.org,pairs,1\n"
    reply = admin.post("/api/v1/studies/tulips/assignments/csv", content=data)
    assert reply.status_code == 422

from datetime import UTC, datetime, timedelta

import httpx
import pytest
from fastapi import FastAPI

from tests.clients import open_client
from tests.factories import make_user, sign_in
from tests.locks import all_writing_locked, be_impatient
from topkapi.app.config import Settings
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import ApiToken, User
from topkapi.app.domain.enums import Role, Scope
from topkapi.app.main import create_app
from topkapi.app.services.accounts import tokens, users


@pytest.fixture
def issued(sessions: Sessions) -> tuple[User, ApiToken, str]:
    with sessions.write.begin() as session:
        user = make_user(session)
        row, plain = tokens.issue_token(session, user, "notebook")
    return user, row, plain


def bearer(plain: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {plain}"}


def test_a_token_says_whose_it_is(
    app: FastAPI, client: httpx.Client, issued: tuple[User, ApiToken, str], sessions: Sessions
) -> None:
    (user, row, plain), before = issued, now()
    answer = client.get("/api/v1/me", headers=bearer(plain))
    assert answer.json() == {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "role": "assessor",
    }
    assert app.state.late.flush()
    with sessions.read() as session:
        used = session.get_one(ApiToken, row.id).last_used_at
    assert used is not None
    assert before <= used <= now()


def test_reading_with_a_token_waits_for_no_lock(
    database_url: str, app_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    be_impatient(database_url, monkeypatch)
    app = create_app(app_settings)
    with app.state.sessions.write.begin() as session:
        row, plain = tokens.issue_token(session, make_user(session), "notebook")
    with open_client(app) as client:
        with all_writing_locked(database_url):
            for path in ("/api/v1/me", "/api/v1/assignments"):
                assert client.get(path, headers=bearer(plain)).status_code == 200
        assert app.state.late.flush()
        with app.state.sessions.read() as session:
            assert session.get_one(ApiToken, row.id).last_used_at is not None


def test_the_use_of_a_token_is_noted_once_a_minute(
    app: FastAPI,
    issued: tuple[User, ApiToken, str],
    sessions: Sessions,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[object] = []
    at = [now()]
    monkeypatch.setattr(tokens, "now", lambda: at[-1])
    monkeypatch.setattr(app.state.late, "add", lambda key, _write: noted.append(key))
    with sessions.read() as session:
        token = tokens.owner_of(session, issued[2])
    for _ in range(3):
        app.state.token_uses.note(token)
    assert noted == [("token", issued[1].id)]
    at.append(at[0] + timedelta(seconds=61))
    app.state.token_uses.note(token)
    assert len(noted) == 2


@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer topkapi_wrong"}, {"Authorization": "Basic YTpi"}, bearer("")],
)
def test_without_a_valid_token_nothing_is_said(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    answer = client.get("/api/v1/me", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert answer.json()["code"] == "sign_in_needed"


@pytest.mark.parametrize("how", ["revoke", "disable"])
def test_a_token_can_be_ended(
    client: httpx.Client, issued: tuple[User, ApiToken, str], sessions: Sessions, how: str
) -> None:
    user, row, plain = issued
    with sessions.write.begin() as session:
        if how == "revoke":
            tokens.revoke_token(session, row.id)
        else:
            users.disable_user(session, session.get_one(User, user.id))
    assert client.get("/api/v1/me", headers=bearer(plain)).status_code == 401


def test_a_token_that_may_only_read_writes_nothing(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
        made = {s: tokens.issue_token(session, admin, s, scope=s)[1] for s in Scope}
    body = {"email": "bo@x.example", "name": "Bo"}
    answers = {
        scope: [
            client.request(method, "/api/v1/users", headers=bearer(token), json=json).status_code
            for method, json in (("GET", None), ("POST", body))
        ]
        for scope, token in made.items()
    }
    assert answers == {Scope.READ: [200, 403], Scope.WRITE: [200, 201]}
    refused = client.patch("/api/v1/studies/tulips", headers=bearer(made[Scope.READ]), json={})
    assert refused.json()["detail"] == "This token may only read. Use one with the scope write."


def test_a_token_ends(client: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        user = make_user(session)
        row, plain = tokens.issue_token(session, user, "notebook")
        endless, _ = tokens.issue_token(session, user, "endless", days=0)
        assert row.expires_at is not None
        assert (row.expires_at - now()).days in (364, 365)
        assert endless.expires_at is None
    assert client.get("/api/v1/me", headers=bearer(plain)).status_code == 200
    with sessions.write.begin() as session:
        session.get_one(ApiToken, row.id).expires_at = datetime(2026, 3, 5, 12, tzinfo=UTC)
    ended = client.get("/api/v1/me", headers=bearer(plain))  # though it is a known one
    assert ended.status_code == 401
    assert ended.json()["detail"] == "The token ended on 2026-03-05. Create a new one."


def test_a_cookie_is_no_token(
    app: FastAPI, client: httpx.Client, issued: tuple[User, ApiToken, str]
) -> None:
    sign_in(app, client, issued[0])
    assert client.get("/api/v1/me").status_code == 401


def test_a_demo_token_works_on_this_machine_only(app: FastAPI, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        _, plain = tokens.issue_token(session, make_user(session, demo=True), "demo")
    with open_client(app, address="203.0.113.9") as elsewhere:
        assert elsewhere.get("/api/v1/me", headers=bearer(plain)).status_code == 403


def test_the_api_is_described(client: httpx.Client) -> None:
    described = client.get("/api/v1/openapi.json").json()
    assert "/api/v1/me" in described["paths"]
    assert all(path.startswith("/api/") for path in described["paths"])
    assert described["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"

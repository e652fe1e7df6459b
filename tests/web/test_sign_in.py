import time
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from tests.cases import each_case
from tests.clients import form_token, open_client
from tests.factories import PASSWORD, make_user, sign_in
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.main import create_app
from topkapi.app.services.accounts import users
from topkapi.app.web.accounts.devices import DEVICE_COOKIE
from topkapi.app.web.common.cookies import CSRF_HEADER, SESSION_COOKIE, Cookies


@pytest.fixture
def ansa(sessions: Sessions) -> User:
    with sessions.write.begin() as session:
        return make_user(session, email="ansa@lehto.example", password=PASSWORD)


def post_form(client: httpx.Client, email: str, password: str, next: str = "/") -> httpx.Response:
    token = form_token(client.get("/sign-in"))
    fields = {"email": email, "password": password, "next": next, "csrf_token": token}
    return client.post("/sign-in", data=fields)


def test_signing_in_leads_to_the_queue(client: httpx.Client, ansa: User) -> None:
    answer = post_form(client, ansa.email, PASSWORD)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    page = client.get("/")
    assert page.status_code == 200
    assert "Your queue" in page.text
    assert "Ansa Lehto" in page.text


def test_cookies_are_secure_where_https_is(app_settings: Settings, ansa: User) -> None:
    app = create_app(app_settings.model_copy(update={"secure_cookies": True}))
    with open_client(app) as client:
        client.base_url = httpx.URL("https://localhost")
        assert "Secure" in post_form(client, ansa.email, PASSWORD).headers["set-cookie"]


def test_the_wanted_page_is_shown_after_signing_in(client: httpx.Client, ansa: User) -> None:
    assert ansa
    refused = client.get("/?tab=2")
    assert refused.headers["location"] == "/sign-in"
    answer = post_form(client, ansa.email, PASSWORD, next="/assignments/7?x=1")
    assert answer.headers["location"] == "/assignments/7?x=1"


@each_case(
    "elsewhere",
    [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "javascript:x",
        "",
        "/\t/evil.example",
    ],
)
def test_nobody_is_led_elsewhere(client: httpx.Client, ansa: User, elsewhere: str) -> None:
    assert post_form(client, ansa.email, PASSWORD, elsewhere).headers["location"] == "/"


def test_a_wrong_password_says_how_many_tries_are_left(client: httpx.Client, ansa: User) -> None:
    answer = post_form(client, ansa.email, "wrong")
    assert answer.status_code == 401
    assert "is incorrect. Four attempts left before a wait of one minute." in answer.text
    assert f'value="{ansa.email}"' in answer.text
    assert "wrong" not in answer.text


def test_too_many_tries_wait(client: httpx.Client, ansa: User) -> None:
    for _ in range(5):
        post_form(client, ansa.email, "wrong")
    answer = post_form(client, ansa.email, PASSWORD)
    assert answer.status_code == 429
    assert 1 <= int(answer.headers["Retry-After"]) <= 60
    assert "Too many attempts" in answer.text


def test_a_browser_where_one_has_signed_in_is_known_again(
    app: FastAPI, client: httpx.Client, ansa: User
) -> None:
    post_form(client, ansa.email, PASSWORD)
    client.cookies.delete(SESSION_COOKIE)
    with open_client(app) as neighbour:  # at the same address
        for _ in range(5):
            post_form(neighbour, ansa.email, "wrong")
        assert post_form(neighbour, ansa.email, PASSWORD).status_code == 429
    assert post_form(client, ansa.email, PASSWORD).status_code == 303


@pytest.mark.parametrize("forged", ["", "x.y", "WyJhIixbMV1d.AAAA"])
def test_a_forged_device_is_none(app: FastAPI, forged: str) -> None:
    cookie = {"type": "http", "headers": [(b"cookie", f"{DEVICE_COOKIE}={forged}".encode())]}
    assert app.state.devices.device_of(Request(cookie)) is None


def test_a_browser_remembers_the_latest_ten_people(app: FastAPI) -> None:
    headers: list[tuple[bytes, bytes]] = []
    for user_id in (*range(1, 13), 5):
        request, response = Request({"type": "http", "headers": headers}), Response()
        app.state.devices.remember(request, response, user_id)
        headers = [(b"cookie", response.headers["set-cookie"].split(";")[0].encode())]
    device = app.state.devices.device_of(Request({"type": "http", "headers": headers}))
    assert device.user_ids == (5, 12, 11, 10, 9, 8, 7, 6, 4, 3)


def test_what_was_typed_comes_back_as_text(client: httpx.Client) -> None:
    answer = post_form(client, '"><script>alert(1)</script>', "x")
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("token", ["", "0" * 64])
def test_the_sign_in_form_needs_its_token(client: httpx.Client, ansa: User, token: str) -> None:
    client.get("/sign-in")
    fields = {"email": ansa.email, "password": PASSWORD, "csrf_token": token}
    answer = client.post("/sign-in", data=fields)
    assert answer.status_code == 403
    assert "Reload the page" in answer.text
    assert SESSION_COOKIE not in client.cookies


def test_a_token_of_another_visitor_is_refused(app: FastAPI, ansa: User) -> None:
    with open_client(app) as client:
        stolen = form_token(client.get("/sign-in"))
        client.cookies.clear()
        client.get("/sign-in")
        fields = {"email": ansa.email, "password": PASSWORD, "csrf_token": stolen}
        assert client.post("/sign-in", data=fields).status_code == 403


def test_signing_out_ends_every_session(app: FastAPI, client: httpx.Client, ansa: User) -> None:
    sign_in(app, client, ansa)
    other = client.cookies[SESSION_COOKIE]
    answer = client.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert SESSION_COOKIE not in client.cookies
    client.cookies.set(SESSION_COOKIE, other, domain="localhost.local")
    assert client.get("/").status_code == 303


def test_signing_out_by_the_form_of_the_page(
    app: FastAPI, client: httpx.Client, ansa: User
) -> None:
    sign_in(app, client, ansa)
    token = form_token(client.get("/"))
    del client.headers[CSRF_HEADER]
    assert client.post("/sign-out", data={"csrf_token": token}).status_code == 303


@pytest.mark.parametrize("token", [None, "0" * 64])
def test_a_write_without_its_token_changes_nothing(
    app: FastAPI, client: httpx.Client, ansa: User, token: str | None
) -> None:
    sign_in(app, client, ansa)
    del client.headers[CSRF_HEADER]
    headers = {CSRF_HEADER: token} if token else {}
    assert client.post("/sign-out", headers=headers).status_code == 403
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("how", ["disable", "password"])
def test_an_administrator_can_end_sessions(
    app: FastAPI, client: httpx.Client, sessions: Sessions, ansa: User, how: str
) -> None:
    sign_in(app, client, ansa)
    assert client.get("/").status_code == 200
    with sessions.write.begin() as session:
        user = session.get_one(User, ansa.id)
        if how == "disable":
            users.disable_user(session, user)
        else:
            users.set_password(session, user, "a new long password")
    assert client.get("/").status_code == 303


def test_a_forged_cookie_is_no_cookie(app: FastAPI, client: httpx.Client, ansa: User) -> None:
    lifetime = timedelta(hours=1)
    forged = Cookies("another secret", lifetime=lifetime, secure=False).session_token(ansa)
    genuine = app.state.cookies.session_token(ansa)
    # not the last character: some of its bits are unused, so another may encode the same bytes
    changed = genuine[:-5] + ("A" if genuine[-5] != "A" else "B") + genuine[-4:]
    for token in (forged, changed, "", "x.y.z"):
        client.cookies.set(SESSION_COOKIE, token, domain="localhost.local")
        assert client.get("/").status_code == 303


def test_a_sign_in_ends_by_itself_and_is_renewed_before(
    app: FastAPI, client: httpx.Client, ansa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_in(app, client, ansa)
    assert "set-cookie" not in client.get("/").headers

    today = time.time()  # seconds: since 1970

    def later(hours: float) -> None:
        monkeypatch.setattr(time, "time", lambda: today - hours * 3600)

    later(40)  # a cookie created 40 of 72 hours ago
    sign_in(app, client, ansa)
    monkeypatch.undo()
    renewed = client.get("/")
    assert SESSION_COOKIE in renewed.headers["set-cookie"]
    assert client.post("/sign-out").status_code == 303  # its form is still valid
    later(73)
    sign_in(app, client, ansa)
    monkeypatch.undo()
    assert client.get("/").status_code == 303


def test_a_sign_in_in_constant_use_ends_too(
    app: FastAPI, client: httpx.Client, ansa: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renew a cookie, which keeps the time of the sign-in, until 14 days have passed since."""
    today, cookies = time.time(), app.state.cookies  # seconds: since 1970
    monkeypatch.setattr(time, "time", lambda: today - 40 * 3600)
    sign_in(app, client, ansa)
    monkeypatch.setattr(time, "time", lambda: today)
    client.get("/")
    claim = cookies.read(client.cookies[SESSION_COOKIE])
    assert claim.issued_at - claim.began_at == timedelta(hours=40)
    for days, status in ((13, 200), (15, 303)):
        old = replace(claim, began_at=claim.issued_at - timedelta(days=days))
        client.cookies.set(SESSION_COOKIE, cookies.renewed_token(old), domain="localhost.local")
        assert client.get("/").status_code == status


def test_htmx_is_sent_to_the_sign_in_page(client: httpx.Client) -> None:
    answer = client.get("/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (401, "/sign-in")


def test_a_form_sent_too_late_leads_back_to_its_page(client: httpx.Client) -> None:
    base = client.base_url
    own, other = f"{base}/studies/tulips/settings?saved=true&a=1", "https://evil.example/studies"
    no_page = f"{base}/studies/tulips/assign/one"
    for page in (own, other, no_page, f"{base}//evil.example", "http://[x"):
        url = client.post("/studies/tulips/settings", headers={"Referer": page}).headers["location"]
        assert ("next=%2Fstudies%2Ftulips%2Fsettings%3Fa%3D1" in url) is (page == own)
        assert "evil" not in url
        assert "your change was not saved" in client.get(url).text
        assert ("next=" in url) is (page == own)
    assert client.post("/sign-out", headers={"Referer": own}).headers["location"] == "/sign-in"


def test_demo_accounts_are_offered_on_this_machine_only(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    assert "Demo accounts" not in client.get("/sign-in").text
    with sessions.write.begin() as session:
        demo = make_user(session, name="Bao Trinh", demo=True, password=PASSWORD)
    assert "Bao Trinh" in client.get("/sign-in").text
    assert "Bao Trinh" not in client.get("/sign-in", headers={"Host": "topkapi.example"}).text
    for name in ("127.0.0.1:8000", "[::1]:8000", "LOCALHOST"):
        assert "Bao Trinh" in client.get("/sign-in", headers={"Host": name}).text
    sign_in(app, client, demo)
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"Host": "topkapi.example"}).status_code == 403
    with open_client(app, address="203.0.113.9") as elsewhere:
        assert "Bao Trinh" not in elsewhere.get("/sign-in").text
        assert post_form(elsewhere, demo.email, PASSWORD).status_code == 403
        sign_in(app, elsewhere, demo)
        assert elsewhere.get("/").status_code == 403


def test_passwords_are_never_stored(client: httpx.Client, sessions: Sessions, ansa: User) -> None:
    post_form(client, ansa.email, PASSWORD)
    with sessions.read() as session:
        stored = session.scalars(select(User.password_hash)).one()
    assert stored is not None
    assert stored.startswith("$argon2id$")


def test_an_unknown_reason_is_ignored(client: httpx.Client) -> None:
    for reason in ("moved", "x" * 500, "[" * 30):
        page = client.get("/sign-in", params={"reason": reason, "next": "//[x"})
        assert page.status_code == 200
        assert reason not in page.text


def test_a_broken_address_of_the_page_is_ignored(client: httpx.Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://[x"}
    assert client.get("/queue", headers=headers).status_code == 401

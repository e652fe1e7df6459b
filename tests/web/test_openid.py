"""Signing in at an OpenID provider, beside passwords."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey
from sqlalchemy import select

from tests.cases import each_case
from tests.clients import BASE_URL, form_token, get, open_client
from tests.commands import Command
from tests.factories import PASSWORD, make_user
from tests.openid_provider import CLIENT, SECRET, OpenIdProvider, openid_provider
from topkapi.app.config import Settings
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts.accounts import user_by_email
from topkapi.app.main import create_app
from topkapi.app.services.accounts import users
from topkapi.app.services.accounts.erasing import erase_user
from topkapi.app.services.machines.assessors import machine_named
from topkapi.app.web.common.cookies import SESSION_COOKIE


@pytest.fixture
def provider() -> Iterator[OpenIdProvider]:
    with openid_provider() as running:
        yield running


@pytest.fixture
def browser(app_settings: Settings, provider: OpenIdProvider) -> Iterator[httpx.Client]:
    given = app_settings.model_dump() | {
        "oidc_issuer": provider.issuer,
        "oidc_client_id": CLIENT,
        "oidc_client_secret": SECRET,
    }
    with open_client(create_app(Settings(**given, _env_file=None))) as client:
        yield client


@pytest.fixture
def ansa(sessions: Sessions, provider: OpenIdProvider) -> User:
    """Create the account of the person whom the provider vouches for."""
    provider.email = "ansa@example.org"
    with sessions.write.begin() as session:
        return make_user(session, email=provider.email)


def come_back(browser: httpx.Client, next: str = "/keys") -> httpx.Response:
    """Follow the link of the sign-in page to the provider; return what its redirect leads to."""
    link = f'href="/sign-in/oidc?next={next.replace("/", "%2F")}"'
    page = browser.get("/sign-in", params={"next": next}).text
    assert link in page.replace("?next=/", "?next=%2F")
    away = browser.get("/sign-in/oidc", params={"next": next})
    assert away.status_code == 303
    back = get(away.headers["Location"])
    assert back.headers["Location"].startswith(f"{BASE_URL}/sign-in/oidc/callback?")
    return browser.get(back.headers["Location"])


def test_a_person_with_an_account_signs_in_and_lands_where_they_wanted(
    browser: httpx.Client, provider: OpenIdProvider, ansa: User
) -> None:
    provider.email = "Ansa@Example.org"
    answer = come_back(browser)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/keys")
    assert browser.get("/keys").status_code == 200
    assert ansa.password_hash is None


def test_a_password_still_works(browser: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        user = make_user(session, password=PASSWORD)
    token = form_token(browser.get("/sign-in"))
    form = {"email": user.email, "password": PASSWORD, "csrf_token": token}
    assert browser.post("/sign-in", data=form).status_code == 303


FORGED = RSAKey.generate_key(2048, {"kid": "one"})
NO_TRUTHS: list[Any] = [False, None, "false", "False", "0", "no", "", 1, "true ", ["true"], {}]
NO_TOKENS: list[Any] = [
    *({"id_token": None}, {"id_token": 5}, {"id_token": {}}, {"id_token": "a.b.c"}),
    *({"id_token": ""}, {"error": "no"}, [], None, "text", 5),
]
NOT_VERIFIED = "has not verified your e-mail"
NOT_ACCEPTED = "not one that Topkapi accepts"
FAILED = "at the other site failed"


@each_case(
    ("claims", "others", "message"),
    [
        ({"email": "else@example.org"}, {}, "has no account here"),
        *(({"email_verified": told}, {}, NOT_VERIFIED) for told in NO_TRUTHS),
        *(
            ({"email": told}, {}, NOT_ACCEPTED)
            for told in (
                *("\u212aim@example.org", "kim@example.or\u0261", "kim@example.org\u00a0"),
                *(" kim@example.org", "kim@example.org\n", "", None, 5, ["kim@example.org"]),
            )
        ),
        *(({"sub": told}, {}, FAILED) for told in (None, "", 5, ["1"], "x" * 256, "\0", "é")),
        ({"nonce": "another"}, {}, FAILED),
        ({"aud": "another"}, {}, FAILED),
        ({"iss": "https://evil.example"}, {}, FAILED),
        ({"exp": 1}, {}, FAILED),
        ({}, {"key": FORGED}, FAILED),
        *(({}, {"tokens": told}, FAILED) for told in NO_TOKENS),
    ],
)
def test_what_the_provider_does_not_vouch_for_is_refused(
    claims: dict[str, Any],
    others: dict[str, Any],
    message: str,
    browser: httpx.Client,
    provider: OpenIdProvider,
    sessions: Sessions,
) -> None:
    with sessions.write.begin() as session:
        if user_by_email(session, "kim@example.org") is None:
            make_user(session, email="kim@example.org")
    provider.claims = {"email": "kim@example.org", **claims}
    provider.key, provider.tokens = provider.published, {}
    for name, value in others.items():
        setattr(provider, name, value)
    answer = come_back(browser)
    assert answer.status_code == 403
    assert message in answer.text
    assert SESSION_COOKIE not in browser.cookies


def user_of(sessions: Sessions, email: str) -> User:
    with sessions.read() as session:
        return users.user_of_email(session, email)


def test_the_first_sign_in_binds_the_account_to_the_subject_and_an_administrator_unbinds_it(
    browser: httpx.Client,
    provider: OpenIdProvider,
    sessions: Sessions,
    database_url: str,
    topkapi: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    with sessions.write.begin() as session:
        for name in ("ansa", "kim"):
            make_user(session, email=f"{name}@example.org")
    provider.email, provider.claims = "ansa@example.org", {"email_verified": "true"}
    for _ in range(2):
        assert come_back(browser).status_code == 303
    assert user_of(sessions, "ansa@example.org").openid == f"{provider.issuer} 1"
    provider.claims = {"sub": "2"}
    refused = come_back(browser)
    assert refused.status_code == 403
    assert "linked to another account" in refused.text
    assert "topkapi users unlink ansa@example.org" in refused.text
    provider.claims, provider.email = {}, "kim@example.org"
    assert come_back(browser).status_code == 303, "a new address at the provider, the same person"
    assert user_of(sessions, "kim@example.org").openid is None
    provider.claims, provider.email = {"sub": "2"}, "ansa@example.org"
    assert topkapi("users", "unlink", "ansa@example.org")[0] == 0
    assert come_back(browser).status_code == 303
    assert user_of(sessions, "ansa@example.org").openid == f"{provider.issuer} 2"
    with sessions.write.begin() as session:
        erase_user(session, users.user_of_email(session, "ansa@example.org"))
        assert session.scalars(select(User.openid)).all() == [None, None]


def test_a_machine_cannot_sign_in(
    browser: httpx.Client, provider: OpenIdProvider, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        machine = machine_named(session, "gpt")
        provider.email = machine.email
    assert "has no account here" in come_back(browser).text


def test_a_disabled_account_stays_out(
    browser: httpx.Client, ansa: User, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        session.get_one(User, ansa.id).disabled_at = now()
    assert "This account is disabled" in come_back(browser).text
    assert SESSION_COOKIE not in browser.cookies


@pytest.mark.usefixtures("ansa")
def test_another_browser_cannot_use_the_answer(browser: httpx.Client) -> None:
    """Refuse a callback without the cookie, or with the state of another sign-in."""
    away = browser.get("/sign-in/oidc")
    location = get(away.headers["Location"]).headers["Location"]
    wrong = f"{urlsplit(location).path}?{urlsplit(location).query}x"
    assert browser.get(wrong).status_code == 403
    browser.cookies.clear()
    assert browser.get(location).status_code == 403
    assert SESSION_COOKIE not in browser.cookies


@pytest.mark.usefixtures("ansa")
def test_a_link_leads_to_no_other_site(browser: httpx.Client) -> None:
    away = browser.get("/sign-in/oidc", params={"next": "https://evil.example/"})
    back = browser.get(get(away.headers["Location"]).headers["Location"])
    assert back.headers["Location"] == "/"


def test_without_a_provider_there_is_no_link(client: httpx.Client) -> None:
    assert "/sign-in/oidc" not in client.get("/sign-in").text
    assert client.get("/sign-in/oidc").status_code == 404
    assert client.get("/sign-in/oidc/callback").status_code == 404

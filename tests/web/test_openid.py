"""Signing in at an OpenID provider, beside passwords."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey

from tests.clients import BASE_URL, open_client
from tests.factories import PASSWORD, make_user
from tests.openid_provider import CLIENT, SECRET, OpenIdProvider, openid_provider
from topkapi.app.config import Settings
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.main import create_app
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


def come_back(browser: httpx.Client, next: str = "/keys") -> httpx.Response:
    """Follow the link of the sign-in page to the provider; return what its redirect leads to."""
    link = f'href="/sign-in/oidc?next={next.replace("/", "%2F")}"'
    page = browser.get("/sign-in", params={"next": next}).text
    assert link in page.replace("?next=/", "?next=%2F")
    away = browser.get("/sign-in/oidc", params={"next": next})
    assert away.status_code == 303
    back = httpx.get(away.headers["Location"])
    assert back.headers["Location"].startswith(f"{BASE_URL}/sign-in/oidc/callback?")
    return browser.get(back.headers["Location"])


def test_a_person_with_an_account_signs_in_and_lands_where_they_wanted(
    browser: httpx.Client, provider: OpenIdProvider, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        user = make_user(session, email="ansa@example.org")
    provider.email = "Ansa@Example.org"
    answer = come_back(browser)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/keys")
    assert browser.get("/keys").status_code == 200
    assert user.password_hash is None


def test_a_password_still_works(browser: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        user = make_user(session, password=PASSWORD)
    page = browser.get("/sign-in")
    token = page.text.partition('name="csrf_token" value="')[2].partition('"')[0]
    form = {"email": user.email, "password": PASSWORD, "csrf_token": token}
    assert browser.post("/sign-in", data=form).status_code == 303


Change = Callable[[OpenIdProvider], None]
FORGED = RSAKey.generate_key(2048, {"kid": "one"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda p: setattr(p, "email", "else@example.org"), "has no account here"),
        (lambda p: p.claims.update(email_verified=False), "has not verified your e-mail"),
        (lambda p: p.claims.update(nonce="another"), "at the other site failed"),
        (lambda p: p.claims.update(aud="another"), "at the other site failed"),
        (lambda p: p.claims.update(iss="https://evil.example"), "at the other site failed"),
        (lambda p: p.claims.update(exp=1), "at the other site failed"),
        (lambda p: setattr(p, "key", FORGED), "at the other site failed"),
    ],
)
def test_what_the_provider_does_not_vouch_for_is_refused(
    change: Change,
    message: str,
    browser: httpx.Client,
    provider: OpenIdProvider,
    sessions: Sessions,
) -> None:
    with sessions.write.begin() as session:
        make_user(session, email="ansa@example.org")
    provider.email = "ansa@example.org"
    change(provider)
    answer = come_back(browser)
    assert answer.status_code == 403
    assert message in answer.text
    assert SESSION_COOKIE not in browser.cookies


def test_a_disabled_account_stays_out(
    browser: httpx.Client, provider: OpenIdProvider, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        make_user(session, email="ansa@example.org").disabled_at = now()
    provider.email = "ansa@example.org"
    assert "This account is disabled" in come_back(browser).text
    assert SESSION_COOKIE not in browser.cookies


def test_another_browser_cannot_use_the_answer(
    browser: httpx.Client, provider: OpenIdProvider, sessions: Sessions
) -> None:
    """Refuse a callback without the cookie, or with the state of another sign-in."""
    with sessions.write.begin() as session:
        make_user(session, email="ansa@example.org")
    provider.email = "ansa@example.org"
    away = browser.get("/sign-in/oidc")
    location = httpx.get(away.headers["Location"]).headers["Location"]
    wrong = f"{urlsplit(location).path}?{urlsplit(location).query}x"
    assert browser.get(wrong).status_code == 403
    browser.cookies.clear()
    assert browser.get(location).status_code == 403
    assert SESSION_COOKIE not in browser.cookies


def test_a_link_leads_to_no_other_site(
    browser: httpx.Client, provider: OpenIdProvider, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        make_user(session, email="ansa@example.org")
    provider.email = "ansa@example.org"
    away = browser.get("/sign-in/oidc", params={"next": "https://evil.example/"})
    back = browser.get(httpx.get(away.headers["Location"]).headers["Location"])
    assert back.headers["Location"] == "/"


def test_without_a_provider_there_is_no_link(client: httpx.Client) -> None:
    assert "/sign-in/oidc" not in client.get("/sign-in").text
    assert client.get("/sign-in/oidc").status_code == 404
    assert client.get("/sign-in/oidc/callback").status_code == 404

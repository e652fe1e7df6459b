"""The server behind a proxy under a path: every address begins with it."""

import re
from collections.abc import Iterator
from urllib.parse import urldefrag

import httpx
import pytest
from fastapi import FastAPI

from tests.clients import open_client
from tests.exporting import make_judged_study
from tests.factories import PASSWORD, make_user, sign_in, token_headers
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role
from topkapi.app.main import create_app

PREFIX = "/labels"
ADDRESS = re.compile(r'="(/[^"]*)"')


@pytest.fixture
def app(app_settings: Settings) -> FastAPI:
    url = f"https://tools.example{PREFIX}/"
    return create_app(
        app_settings.model_copy(update={"public_url": Settings(public_url=url).public_url})
    )


class Stripping(httpx.BaseTransport):
    """A proxy that forwards what is under the prefix without it, and nothing else."""

    def __init__(self, inner: httpx.BaseTransport) -> None:
        self._inner = inner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.raw_path.decode()
        if not path.startswith(f"{PREFIX}/"):
            return httpx.Response(404, text=f"not under {PREFIX}: {path}")
        url = request.url.copy_with(raw_path=path.removeprefix(PREFIX).encode())
        request.read()
        return self._inner.handle_request(
            httpx.Request(request.method, url, headers=request.headers, content=request.content)
        )


@pytest.fixture(params=["stripped", "whole"])
def client(request: pytest.FixtureRequest, app: FastAPI) -> Iterator[httpx.Client]:
    with open_client(app) as client:
        if request.param == "stripped":
            client._transport = Stripping(client._transport)
        yield client


@pytest.fixture
def admin(sessions: Sessions) -> User:
    with sessions.write.begin() as session:
        make_judged_study(session)
        return make_user(session, role=Role.ADMIN, email="maren@x.example", password=PASSWORD)


@pytest.mark.thorough
def test_every_address_on_every_page_is_under_the_prefix(
    app: FastAPI, client: httpx.Client, admin: User
) -> None:
    sign_in(app, client, admin)
    waiting, seen = [f"{PREFIX}/"], set[str]()
    while waiting:
        path = waiting.pop(0)  # pages near the first one before the others
        if path in seen or len(seen) > 150 or "/exports/" in path:
            continue
        seen.add(path)
        reply = client.get(path, follow_redirects=True)
        assert reply.status_code < 400 or reply.status_code == 405, (path, reply.text)
        assert reply.url.path.startswith(f"{PREFIX}/")
        if not reply.headers.get("content-type", "").startswith("text/html"):
            continue
        found = [urldefrag(each.replace("&amp;", "&")).url for each in ADDRESS.findall(reply.text)]
        assert all(each.startswith(f"{PREFIX}/") for each in found), (path, found)
        waiting += found
    assert {f"{PREFIX}/studies/tulips/report", f"{PREFIX}/people", f"{PREFIX}/queue"} <= seen


def test_signing_in_leads_to_the_page_that_was_wanted(client: httpx.Client, admin: User) -> None:
    for wanted in (f"{PREFIX}/people", f"{PREFIX}/"):
        client.cookies.clear()
        page = client.get(wanted, follow_redirects=True)
        fields = dict(re.findall(r'name="(csrf_token|next)" value="([^"]*)"', page.text))
        form = {**fields, "email": admin.email, "password": PASSWORD}
        reply = client.post(f"{PREFIX}/sign-in", data=form)
        assert (reply.status_code, reply.headers["location"]) == (303, wanted)
        cookies = reply.headers.get_list("set-cookie")
        assert len(cookies) == 2
        assert all(f"Path={PREFIX};" in each for each in cookies)


@pytest.mark.thorough
def test_links_for_others_and_the_api_are_under_the_prefix(
    app: FastAPI, client: httpx.Client, admin: User, sessions: Sessions
) -> None:
    sign_in(app, client, admin)
    form = {"email": "ansa@x.example", "name": "Ansa", "role": "assessor"}
    page = client.post(f"{PREFIX}/people", data=form).text
    assert 'value="https://tools.example/labels/invitations/' in page
    with sessions.write.begin() as session:
        headers = token_headers(session, admin)
    reply = client.get(f"{PREFIX}/api/v1/me", headers=headers)
    assert reply.json()["email"] == admin.email
    assert client.get(f"{PREFIX}/api/v1/openapi.json").json()["servers"] == [{"url": PREFIX}]
    assert client.get(f"{PREFIX}/api/v1/nowhere").json()["code"] == "not_found"


def test_a_trailing_slash_is_redirected_within_the_prefix(client: httpx.Client) -> None:
    for host in ("localhost", "evil.example"):
        reply = client.get(f"{PREFIX}/sign-in/?next=/me", headers={"Host": host})
        assert (reply.status_code, reply.headers["location"]) == (307, f"{PREFIX}/sign-in?next=/me")

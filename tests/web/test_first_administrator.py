"""The first administrator creates an account with the link that the server printed."""

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.clients import form_token
from tests.factories import PASSWORD, make_user
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts.invitations import first_code


def send(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    form = {"email": "maren@x.example", "name": "Maren Oduya", "password": PASSWORD, **fields}
    return client.post(path, data={"csrf_token": form_token(client.get(path)), **form})


@pytest.mark.both
def test_the_link_creates_one_administrator_who_is_signed_in(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    path = f"/first/{first_code(app.state.secret)}"
    assert "There is no account yet" in client.get("/sign-in").text
    refused = send(client, path, password="short")
    assert refused.status_code == 422
    assert "at least 10 characters" in refused.text
    assert 'value="maren@x.example"' in refused.text
    reply = send(client, path)
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    assert "Maren Oduya" in client.get("/").text
    with sessions.read() as session:
        (user,) = session.scalars(select(User))
    assert (user.email, user.role) == ("maren@x.example", Role.ADMIN)
    client.cookies.clear()
    assert client.get(path).status_code == 403
    assert "first administrator exists" in client.get(path).text


def test_another_code_or_a_server_with_accounts_is_refused(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    assert client.get(f"/first/{'0' * 32}").status_code == 403
    with sessions.write.begin() as session:
        make_user(session)
    assert client.get(f"/first/{first_code(app.state.secret)}").status_code == 403

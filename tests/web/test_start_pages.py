"""Start pages by role, the first start, and a person's own page."""

import re
from datetime import timedelta
from types import SimpleNamespace
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from jinja2.meta import find_referenced_templates
from pyotp import TOTP
from sqlalchemy import select

from tests.clients import form_token
from tests.exporting import judge, make_judged_study
from tests.factories import (
    PASSWORD,
    Enter,
    make_assignment,
    make_study,
    make_user,
    queries_of,
    sign_in,
)
from topkapi.app.db import base
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import ApiToken, AuditEvent, Job, User
from topkapi.app.domain.enums import Role, Scope
from topkapi.app.services.accounts.passwords import matches
from topkapi.app.services.accounts.tokens import issue_token
from topkapi.app.services.jobs.worker import Worker
from topkapi.app.web.access.deps import get_session
from topkapi.app.web.access.downloads import get_export_session
from topkapi.app.web.common.cookies import CSRF_HEADER
from topkapi.app.web.common.templates import START_TEMPLATES, make_templates


@pytest.mark.parametrize(
    ("role", "title"),
    [(Role.ADMIN, "Dashboard"), (Role.RESEARCHER, "Results"), (Role.ASSESSOR, "Your queue")],
)
def test_everyone_starts_where_their_work_is(
    client: httpx.Client, role: Role, title: str, enter: Enter
) -> None:
    enter(role=role)
    assert f"<h1>{title}</h1>" in client.get("/").text
    assert "<h1>Your queue</h1>" in client.get("/queue").text


@pytest.mark.thorough
def test_the_dashboard_shows_studies_and_their_agreement(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    with sessions.write.begin() as session:
        make_judged_study(session)
        make_study(session, slug="fresh")
    enter(role=Role.ADMIN)
    page = client.get("/").text
    assert 'hx-get="/dashboard/tulips/agreement"' in page
    assert "nothing assigned" in page
    assert "Needs attention" in page


def test_the_dashboard_computes_agreement_in_the_background_once_for_everybody(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    with sessions.write.begin() as session:
        query = queries_of(session, make_judged_study(session))[2]
    enter(role=Role.ADMIN)
    address = "/dashboard/tulips/agreement"
    asks = f'hx-post="{address}"'
    assert "Not computed yet" in (first := client.get(address).text)
    assert asks in first, "the page asks for it by itself"
    for _ in range(2):  # two people who look at the same time
        assert client.post(address).headers["location"] == address
    waiting = client.get(address).text
    assert "Ready in about a minute" in waiting
    assert "every 2s" in waiting
    assert asks not in waiting
    with sessions.read() as session:
        assert session.scalars(select(Job.kind)).all() == ["report"]
        assert session.scalars(select(AuditEvent)).all() == [], "nobody has asked for it"
    Worker(sessions).run(until_empty=True)
    shown = client.get(address).text
    assert "%" in shown
    assert "<time" in shown
    assert "hx-" not in shown, "it is current"

    with sessions.write.begin() as session:
        judge(session, make_assignment(session, query=query))
    assert asks not in client.get(address).text, "the worker rests"
    with sessions.write.begin() as session:
        job = session.scalars(select(Job)).one()
        job.started_at = job.finished_at = job.created_at - timedelta(hours=1)
    outdated = client.get(address).text
    assert asks in outdated
    assert "%" in outdated, "the last value stays meanwhile"
    client.post(address)
    Worker(sessions).run(until_empty=True)
    assert "hx-" not in client.get(address).text
    with sessions.read() as session:
        assert len(session.scalars(select(Job)).all()) == 1, "the older one is deleted"


def test_a_page_that_reads_rows_never_waits_for_a_computation(app: FastAPI) -> None:
    """A route that holds a place for rows holds none of those in which results are computed."""

    def calls(dependant: Dependant) -> set[object]:
        own = {dependant.call}
        return own.union(*(calls(each) for each in dependant.dependencies))

    found = {
        (context.path, str(context.methods)): calls(context.original_route.dependant)
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute)
    }
    places = get_session, get_export_session
    for place in places:
        assert sum(place in used for used in found.values()) > 5
    assert [route for route, used in found.items() if used >= {*places}] == []


def test_the_first_start_says_how_to_make_an_account(
    client: httpx.Client, sessions: Sessions
) -> None:
    assert "topkapi users add" in client.get("/sign-in").text
    with sessions.write.begin() as session:
        make_user(session)
    assert "topkapi users add" not in client.get("/sign-in").text


def test_a_name_is_changed_and_audited(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    user = enter(role=Role.ASSESSOR, password=PASSWORD)
    assert client.post("/me/name", data={"name": "Ansa Virtanen"}).status_code == 303
    assert "Ansa Virtanen" in client.get("/me").text
    assert client.post("/me/name", data={"name": " "}).status_code == 422
    with sessions.read() as session:
        event = session.scalars(select(AuditEvent)).one()
        assert (event.action, event.user_id) == ("user.rename", user.id)


def test_a_password_is_changed_with_the_current_one(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    user = enter(role=Role.ASSESSOR, password=PASSWORD)
    fresh = "another quite long password"
    wrong = client.post("/me/password", data={"current": "no", "password": fresh})
    assert (wrong.status_code, "current password is incorrect" in wrong.text) == (422, True)
    weak = client.post("/me/password", data={"current": PASSWORD, "password": "short"})
    assert weak.status_code == 422
    done = client.post("/me/password", data={"current": PASSWORD, "password": fresh})
    assert done.status_code == 303
    assert "set-cookie" in done.headers
    with sessions.read() as session:
        stored = session.get_one(User, user.id)
        assert matches(stored.password_hash, fresh)
        assert stored.session_version == 2


def test_the_current_password_cannot_be_guessed(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    user = enter(role=Role.ASSESSOR, password=PASSWORD)
    guess = {"password": "another quite long password"}
    tries = [
        client.post("/me/password", data={**guess, "current": f"guess {number}"})
        for number in range(6)
    ]
    assert [reply.status_code for reply in tries] == [422] * 5 + [429]
    assert int(tries[-1].headers["retry-after"]) > 0
    right = client.post("/me/password", data={**guess, "current": PASSWORD})
    assert right.status_code == 429
    with sessions.read() as session:
        assert matches(session.get_one(User, user.id).password_hash, PASSWORD)


def test_an_administrator_turns_one_time_codes_on_and_off(
    app: FastAPI,
    client: httpx.Client,
    sessions: Sessions,
    monkeypatch: pytest.MonkeyPatch,
    enter: Enter,
) -> None:
    at = base.now()
    monkeypatch.setattr(base, "datetime", SimpleNamespace(now=lambda _zone: at))
    enter(role=Role.ASSESSOR)
    assert "One-time codes" not in client.get("/me").text
    user = enter(role=Role.ADMIN, password=PASSWORD)
    page = client.get("/me").text
    salt = re.findall(r'name="salt" value="([^"]+)"', page)[0]
    secret = app.state.codes.secret_of(user.id, salt)
    assert " ".join(secret[n : n + 4] for n in range(0, 32, 4)) in page
    assert "<title>QR code of the secret</title>" in page
    assert f'href="otpauth://totp/Topkapi:{quote(user.email)}?secret={secret}' in page
    form = {"salt": salt, "code": "wrong", "current": PASSWORD}
    wrong = client.post("/me/codes", data=form)
    assert (wrong.status_code, f'value="{salt}"' in wrong.text) == (422, True)
    right = {**form, "code": TOTP(secret).at(at)}
    assert client.post("/me/codes", data={**right, "current": "no"}).status_code == 422
    on = client.post("/me/codes", data=right)
    codes = re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", on.text)
    assert (on.status_code, len(set(codes))) == (201, 10)
    page = client.get("/me").text
    assert "(10 left)" in page
    assert "Turn off" in page
    assert secret[:4] not in page
    assert codes[0] not in page, "they are shown once"
    assert client.post("/me/codes", data={"renew": "true", "current": "no"}).status_code == 422
    renewed = client.post("/me/codes", data={"renew": "true", "current": PASSWORD})
    (code, *_), old = re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", renewed.text), codes[0]

    client.cookies.clear()
    del client.headers[CSRF_HEADER]
    entry = client.get("/sign-in")
    assert "One-time code" not in entry.text
    fields = {"csrf_token": form_token(entry), "email": user.email, "password": PASSWORD}
    asked = client.post("/sign-in", data=fields)
    assert (asked.status_code, 'name="code"' in asked.text) == (401, True)
    assert client.get("/").status_code == 303
    later = TOTP(secret).at(at, 1)
    assert client.post("/sign-in", data={**fields, "code": later}).headers["location"] == "/"
    assert client.get("/").status_code == 200
    client.cookies.clear()
    fields["csrf_token"] = form_token(client.get("/sign-in"))
    assert client.post("/sign-in", data={**fields, "recovery": old}).status_code == 401
    assert client.post("/sign-in", data={**fields, "recovery": code}).status_code == 303
    assert "(9 left)" in client.get("/me").text
    sign_in(app, client, user)
    assert client.post("/me/codes", data={"current": PASSWORD}).status_code == 303
    with sessions.read() as session:
        assert session.get_one(User, user.id).totp_salt is None


def test_own_tokens_are_shown_once_and_revoked(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    enter(role=Role.ASSESSOR)
    made = client.post("/me/tokens", data={"name": "notebook"})
    assert (made.status_code, "topkapi_" in made.text) == (201, True)
    assert "topkapi_" not in client.get("/me").text
    assert "<td>reading and writing</td>" in client.get("/me").text
    with sessions.write.begin() as session:
        (token,) = session.scalars(select(ApiToken)).all()
        other = make_user(session)
        foreign, _ = issue_token(session, other, "x")
    assert client.post(f"/me/tokens/{foreign.id}/revoke").status_code == 404
    assert client.post(f"/me/tokens/{token.id}/revoke").status_code == 303
    assert client.post("/me/tokens", data={"name": ""}).status_code == 422
    client.post("/me/tokens", data={"name": "dashboard", "scope": "read", "days": "0"})
    with sessions.read() as session:
        kept = session.scalars(select(ApiToken).where(ApiToken.name == "dashboard")).one()
        assert (kept.scope, kept.expires_at) == (Scope.READ, None)
    assert "<td>reading</td>" in client.get("/me").text
    for wrong in ({"days": "-1"}, {"days": "3651"}, {"scope": "all"}):
        assert client.post("/me/tokens", data={"name": "x", **wrong}).status_code == 422


def test_start_pages_are_compiled_with_every_template_that_they_always_need() -> None:
    environment = make_templates()
    assert environment.loader is not None
    needed = set()
    for name in START_TEMPLATES:
        source, _, _ = environment.loader.get_source(environment, name)
        needed |= set(find_referenced_templates(environment.parse(source)))
    assert needed - set(START_TEMPLATES) == {"crowds/_completion.html"}  # at the end of the work

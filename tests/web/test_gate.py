"""Refusals before a body is read; slow senders hold no slot."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from inspect import iscoroutinefunction

import httpx
import pytest
from fastapi import FastAPI
from fastapi.params import File
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from tests.asgi import begin, exchange, scope_of
from tests.cases import each_case
from tests.factories import make_user, sign_in
from tests.threads import in_thread
from tests.waiting import WATCHDOG, until
from tests.web.test_authorisation import ALLOWED, EVERYONE, LINK, address_of, routes_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.db.queries.accounts.accounts import Bearer
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import tokens
from topkapi.app.web.access import admission, early_auth
from topkapi.app.web.access.bodies import DEFAULT, VISITOR, BodyLimits, is_declared
from topkapi.app.web.access.deps import SAFE_METHODS
from topkapi.app.web.access.slots import Lane, TransactionLimits
from topkapi.app.web.common.cookies import CSRF_HEADER, SESSION_COOKIE, Cookies
from topkapi.app.web.server import gate

pytestmark = pytest.mark.both

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
NOTHING_SENT = {**FORM, "Content-Length": "5"}


@pytest.fixture
def admin(sessions: Sessions) -> tuple[User, str]:
    """Create an administrator with a token."""
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        return user, tokens.issue_token(session, user, "test")[1]


def credentials(app: FastAPI, path: str, admin: tuple[User, str]) -> dict[str, str]:
    """Return an administrator's headers: a token for the API, a cookie for pages."""
    user, token = admin
    if path.startswith("/api/"):
        return {"Authorization": f"Bearer {token}"}
    cookies: Cookies = app.state.cookies
    return {"Cookie": f"{SESSION_COOKIE}={cookies.session_token(user)}"}


def lanes(app: FastAPI) -> Iterator[tuple[str, Lane]]:
    limits: TransactionLimits = app.state.transaction_limits
    return ((name, lane) for name, lane in vars(limits).items() if isinstance(lane, Lane))


def held(app: FastAPI) -> list[str]:
    """Return the lanes with a slot in use."""
    return [name for name, lane in lanes(app) if lane.limiter.borrowed_tokens]


def is_released(app: FastAPI) -> bool:
    """Return whether nothing is in use; a late write, such as a token's last use, ends soon."""
    return not held(app) and not app.state.engine.pool.checkedout()


@pytest.mark.thorough
def test_a_body_that_never_comes_holds_no_slot_on_any_route(
    app: FastAPI, admin: tuple[User, str]
) -> None:
    """Call every route, anonymously and as administrator, with a body that never arrives."""
    writers: list[str] = []
    event.listen(app.state.engine, "begin", lambda _connection: writers.append("begun"))

    async def ask(method: str, path: str, known: bool) -> None:
        headers = {**NOTHING_SENT, **(credentials(app, path, admin) if known else {})}
        scope = scope_of(method, address_of(path), headers)
        reply, task = await begin(app, scope, ())
        assert reply.status or reply.asked_for_body, f"{method} {path}"
        await asyncio.to_thread(until, partial(is_released, app), f"{method} {path} {known}")
        task.cancel()
        await asyncio.wait({task})

    async def ask_all() -> None:
        async with app.router.lifespan_context(app):
            for method, path in routes_of(app):
                for known in (False, True):
                    await ask(method, path, known)

    in_thread(asyncio.run, ask_all())
    assert writers  # the listener works


def test_strangers_are_refused_before_their_body_is_read_and_without_the_database(
    app: FastAPI,
) -> None:
    begun: list[str] = []
    event.listen(app.state.engine, "begin", lambda _connection: begun.append("begun"))
    for method, path in routes_of(app):
        allowed = ALLOWED[f"{method} {path}"]
        if allowed in (EVERYONE, LINK):
            continue
        reply = exchange(app, method, address_of(path), headers=NOTHING_SENT, chunks=())
        assert (reply.status, reply.asked_for_body) in ((401, False), (303, False)), (
            f"{method} {path}"
        )
    assert begun == []


def test_made_up_links_and_tokens_take_no_slot_of_people_at_work(
    app: FastAPI, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Lane] = []
    hold = Lane.hold

    def watched(
        lane: Lane, before: float = 0.0, *, key: object = None
    ) -> AbstractAsyncContextManager[float]:
        used.append(lane)
        return hold(lane, before, key=key)

    monkeypatch.setattr(Lane, "hold", watched)
    assert client.get("/pages/made-up/x.html").status_code == 403
    assert used == []
    assert client.get("/invitations/made-up").status_code == 403
    headers = {"Authorization": "Bearer topkapi_made_up"}
    assert client.get("/api/v1/me", headers=headers).status_code == 401
    assert client.post("/api/v1/assignments/1/undo", headers=headers).status_code == 401
    named = {lane for _, lane in lanes(app)}
    assert named.intersection(used) == {app.state.transaction_limits.strangers}


def test_a_form_without_its_csrf_token_takes_no_slot(
    app: FastAPI, client: httpx.Client, admin: tuple[User, str]
) -> None:
    sign_in(app, client, admin[0])
    del client.headers[CSRF_HEADER]
    begun: list[str] = []
    event.listen(app.state.engine, "begin", lambda _connection: begun.append("begun"))
    for path in ("/sign-out", "/people", "/assignments/1/timer", "/assignments/1/judgments"):
        assert client.post(path, data={"csrf_token": "x"}).status_code == 403
    assert begun == []


def test_a_token_is_looked_up_once_a_minute_and_revoked_at_once(
    client: httpx.Client,
    sessions: Sessions,
    admin: tuple[User, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    headers = {"Authorization": f"Bearer {admin[1]}"}
    lookups: list[str] = []
    owner_of = tokens.owner_of

    def watched(session: Session, plain: str) -> Bearer:
        lookups.append(plain)
        return owner_of(session, plain)

    monkeypatch.setattr(tokens, "owner_of", watched)
    monkeypatch.setattr(admission, "KNOWN_SECONDS", WATCHDOG)
    for _ in range(3):
        assert client.get("/api/v1/me", headers=headers).status_code == 200
    assert len(lookups) == 1 + 3  # once by early authentication, and in each request's transaction
    with sessions.write.begin() as session:
        tokens.revoke_token(session, 1)
    assert client.get("/api/v1/me", headers=headers).status_code == 401


@pytest.mark.parametrize("path", ["/api/v1/assignments/1/undo", "/api/v1/studies", "/imports"])
def test_a_database_that_is_away_is_told_apart_from_a_fault(
    app: FastAPI,
    admin: tuple[User, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    path: str,
) -> None:
    def away(*_given: object) -> None:
        raise OperationalError("SELECT", {}, Exception("connection refused\nis it running?"))

    for place, name in ((tokens, "owner_of"), (early_auth, "claimant")):
        monkeypatch.setattr(place, name, away)
    reply = exchange(app, "POST", path, headers=credentials(app, path, admin), chunks=())
    assert (reply.status, reply.headers["retry-after"]) == (503, "2")
    (line,) = [each for each in caplog.records if each.name == "topkapi.errors"]
    assert line.getMessage() == "the database did not answer: Exception: connection refused"
    assert line.exc_info is None


def test_bodies_are_bounded_by_what_they_announce(app: FastAPI, admin: tuple[User, str]) -> None:
    for path, limit in (("/sign-in", VISITOR), ("/sign-out", DEFAULT), ("/api/v1/users", DEFAULT)):
        headers = {**credentials(app, path, admin), "Content-Length": str(limit.most_bytes + 1)}
        reply = exchange(app, "POST", path, headers=headers, chunks=())
        assert (reply.status, reply.asked_for_body) == (413, False)
        assert b"larger than" in reply.body


def test_bodies_are_bounded_while_they_stream(app: FastAPI, admin: tuple[User, str]) -> None:
    begin_of_file = b'--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'
    blocks = [begin_of_file, *[b"x" * 65_536] * 300]
    for path, status in (
        ("/sign-in", 413),
        ("/sign-out", 413),
        ("/api/v1/users", 413),
        ("/studies/none/assign/csv", 413),
        ("/api/v1/studies/none/assignments/csv", 422),  # explains what to do
    ):
        headers = {
            **credentials(app, path, admin),
            "Content-Type": "multipart/form-data; boundary=b",
        }
        assert exchange(app, "POST", path, headers=headers, chunks=blocks).status == status, path


def test_a_body_that_takes_too_long_is_given_up(
    app: FastAPI, admin: tuple[User, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "IDLE_SECONDS", 0.01)  # seconds: their end is awaited

    async def ask(path: str) -> int:
        async with app.router.lifespan_context(app):
            headers = {**NOTHING_SENT, **credentials(app, path, admin)}
            reply, task = await begin(app, scope_of("POST", path, headers), ())
            await task
            return reply.status

    for path in ("/sign-in", "/sign-out", "/imports", "/api/v1/studies", "/api/v1/users"):
        assert in_thread(asyncio.run, ask(path)) == 408


def test_large_bodies_are_for_administrators(app: FastAPI, sessions: Sessions) -> None:
    limits = BodyLimits(app.routes)
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.RESEARCHER)
        person = user, tokens.issue_token(session, user, "test")[1]
    for method, path in routes_of(app):
        address = address_of(path)
        if limits.of(method, address).most_bytes > DEFAULT.most_bytes:
            headers = {**NOTHING_SENT, **credentials(app, path, person)}
            reply = exchange(app, method, address, headers=headers, chunks=())
            assert (reply.status, reply.asked_for_body) == (403, False), path


def may_be_large(route: APIRoute) -> bool:
    """Return whether a route takes files or long texts, or reads the body itself."""
    dependants = [route.dependant]
    for each in dependants:  # grows meanwhile
        dependants += each.dependencies
    fields = [field.field_info for each in dependants for field in each.body_params]
    fields += [field for each in fields for field in fields_of(each.annotation)]
    lengths = [getattr(bound, "max_length", 0) for each in fields for bound in each.metadata]
    reads_itself = iscoroutinefunction(route.endpoint) and not fields
    takes_files = any(isinstance(each, File) for each in fields)
    return reads_itself or takes_files or max(lengths, default=0) > DEFAULT.most_bytes


def fields_of(annotation: object) -> Iterable[FieldInfo]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.model_fields.values()
    return ()


def test_a_route_that_takes_a_large_body_declares_how_large(app: FastAPI) -> None:
    routes = [each.original_route for each in iter_route_contexts(app.routes)]
    writing = [each for each in routes if getattr(each, "methods", set()) - SAFE_METHODS]
    large = [each for each in writing if isinstance(each, APIRoute) and may_be_large(each)]
    assert len(large) > 8
    assert [each.path for each in large if not is_declared(each.endpoint)] == []


def test_the_memory_of_an_upload_is_returned_to_the_system(
    client: httpx.Client, admin: tuple[User, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    returned: list[str] = []
    monkeypatch.setattr(gate, "return_memory", lambda: returned.append("memory"))
    monkeypatch.setattr(gate, "_TRIM_SECONDS", WATCHDOG)
    headers = {"Authorization": f"Bearer {admin[1]}"}
    for _ in range(2):  # once in some seconds
        client.post("/api/v1/studies/tulips/systems", headers=headers, content=b"x")
    client.post("/api/v1/assignments/1/undo", headers=headers, json={"position": 0})
    assert returned == ["memory"]


def test_a_long_note_fits(app: FastAPI) -> None:
    assert DEFAULT.most_bytes > 10_000 * 12  # characters of four bytes, percent-encoded
    assert BodyLimits(app.routes).of("POST", "/assignments/1/judgments") is DEFAULT


@each_case(
    "body",
    [
        b"[" * 200_000,
        b'{"a":' * 40_000,
        b'{"position": ' + b"9" * 5_000 + b"}",
        b'{"position": "\xff"}',
        b"\xff\xfe",
        b"{",
        json.dumps({"position": 2**200}).encode(),
        b'{"position": NaN}',
    ],
)
def test_malformed_json_is_never_a_fault(
    client: httpx.Client, admin: tuple[User, str], body: bytes
) -> None:
    headers = {"Authorization": f"Bearer {admin[1]}", "Content-Type": "application/json"}
    for path in ("/api/v1/assignments/1/undo", "/api/v1/users"):
        assert client.post(path, content=body, headers=headers).status_code == 422

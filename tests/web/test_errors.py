import asyncio
import json
import logging

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from sqlalchemy.exc import OperationalError
from starlette.types import Message, Receive, Scope, Send

from tests.clients import open_client
from tests.factories import Enter, make_study, make_user, sign_in
from tests.threads import in_thread
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study
from topkapi.app.domain import errors
from topkapi.app.web.access.deps import CurrentUser, SessionDep
from topkapi.app.web.common.errors import STATUS, status_of
from topkapi.app.web.server.headers import CSP
from topkapi.app.web.server.logs import JsonLines, RequestLog

PRIVATE = "private.person@example.org"


@pytest.fixture
def faulty(app: FastAPI) -> FastAPI:
    """Return the app with routes that raise known errors."""
    router = APIRouter()

    @router.get("/faults/{kind}")
    @router.get("/api/v1/faults/{kind}")
    def fault(kind: str) -> None:
        match kind:
            case "conflict":
                raise errors.Conflict("It is <taken>.")
            case "stale":
                raise errors.StaleForm("Another answer was first.")
            case "database":
                raise OperationalError("SELECT", {}, Exception("locked"))
            case _:
                raise RuntimeError("secret internal text")

    @router.post("/studies-then-fault")
    def write_then_fail(session: SessionDep, user: CurrentUser) -> None:
        make_study(session, slug="half-done")
        raise errors.Conflict(f"Not today, {user.name}.")

    app.include_router(router)
    return app


def test_people_get_a_page(faulty: FastAPI) -> None:
    with open_client(faulty) as client:
        answer = client.get("/faults/conflict")
    assert answer.status_code == 409
    assert answer.headers["content-type"].startswith("text/html")
    assert "It is &lt;taken&gt;." in answer.text
    assert "<!doctype html>" in answer.text


def test_htmx_gets_a_fragment(faulty: FastAPI) -> None:
    with open_client(faulty) as client:
        answer = client.get("/faults/stale", headers={"HX-Request": "true"})
    assert answer.status_code == 409
    assert "<!doctype" not in answer.text
    assert 'role="alert"' in answer.text


def test_programs_get_problem_json(faulty: FastAPI) -> None:
    with open_client(faulty) as client:
        answer = client.get("/api/v1/faults/stale")
    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Conflict with the current state",
        "status": 409,
        "detail": "Another answer was first.",
        "code": "stale_form",
    }


def test_a_fault_shows_a_number_and_no_inner_words(
    faulty: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    with open_client(faulty) as client:
        page, problem = client.get("/faults/bug"), client.get("/api/v1/faults/bug")
    assert page.status_code == problem.status_code == 500
    assert "secret internal text" not in page.text + problem.text
    assert page.headers["X-Request-ID"] in page.text
    assert page.headers["Content-Security-Policy"] == CSP
    assert problem.json()["code"] == "unexpected"
    assert "secret internal text" in caplog.text


def test_a_silent_database_is_no_fault(faulty: FastAPI) -> None:
    with open_client(faulty) as client:
        answer = client.get("/api/v1/faults/database")
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    assert answer.headers["Retry-After"] == "2"


def test_a_refused_request_writes_nothing(faulty: FastAPI, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        user = make_user(session)
    with open_client(faulty) as client:
        sign_in(faulty, client, user)
        assert client.post("/studies-then-fault").status_code == 409
    with sessions.read() as session:
        assert session.query(Study).count() == 0


@pytest.mark.parametrize(
    ("path", "method", "status"),
    [("/nowhere", "GET", 404), ("/sign-in", "PUT", 405), ("/api/v1/nowhere", "GET", 404)],
)
def test_unknown_addresses(client: httpx.Client, path: str, method: str, status: int) -> None:
    answer = client.request(method, path)
    assert answer.status_code == status
    kind = "application/problem+json" if path.startswith("/api") else "text/html; charset=utf-8"
    assert answer.headers["content-type"] == kind


def test_every_error_has_a_status() -> None:
    def below(kind: type[errors.AppError]) -> list[type[errors.AppError]]:
        return [kind, *(deeper for sub in kind.__subclasses__() for deeper in below(sub))]

    for kind in below(errors.AppError):
        error = kind.__new__(kind)
        assert 400 <= status_of(error) < 500
        assert kind.code
    assert STATUS[errors.WrongCredentials] == 401


def test_every_response_is_dressed(client: httpx.Client) -> None:
    for path in ("/sign-in", "/healthz", "/api/v1/me", "/nowhere", "/static/css/app.css"):
        headers = client.get(path).headers
        assert headers["Content-Security-Policy"] == CSP
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Request-ID"]
    assert "unsafe" not in CSP


def test_own_pages_have_nothing_inline(client: httpx.Client) -> None:
    page = client.get("/sign-in").text
    assert "<style" not in page
    assert " style=" not in page
    assert "<script>" not in page
    assert " onclick" not in page


def test_static_files_are_kept_by_their_mark(client: httpx.Client) -> None:
    marked = client.get("/static/css/app.css?v=1").headers["Cache-Control"]
    assert "immutable" in marked
    assert client.get("/static/css/app.css").headers["Cache-Control"] == "no-cache"
    assert client.get("/static/../pyproject.toml").status_code == 404


def test_a_request_is_logged_without_secrets(
    client: httpx.Client, caplog: pytest.LogCaptureFixture, enter: Enter
) -> None:
    user = enter()
    caplog.set_level(logging.INFO, "topkapi.requests")
    client.get("/?token=hidden", headers={"X-Request-ID": "abc-1"})
    client.get("/sign-in", headers={"X-Request-ID": "no good\x7f"})
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records]
    first, second = (line for line in lines if line["logger"] == "topkapi.requests")
    assert {name: first[name] for name in ("method", "path", "status", "user_id")} == {
        "method": "GET",
        "path": "/",
        "status": 200,
        "user_id": user.id,
    }
    assert first["request_id"] == "abc-1"
    assert first["ms"] > 0
    assert "hidden" not in json.dumps(lines)
    assert second["request_id"] != "no good\x7f"


def test_static_files_are_logged_for_debugging_only(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "topkapi.requests")
    client.get("/static/css/app.css")
    client.get("/static/css/none.css")
    found, missing = (each for each in caplog.records if each.name == "topkapi.requests")
    assert (found.levelname, missing.levelname) == ("DEBUG", "INFO")
    assert "/static/{path}" in JsonLines().format(found)


@pytest.mark.parametrize("host", ["[", "[::1", "a b", "localhost:x", ""])
def test_a_broken_host_header_is_no_fault(client: httpx.Client, host: str) -> None:
    for path in ("/sign-in", "/", "/nowhere", "/api/v1/me"):
        assert client.get(path, headers={"Host": host}).status_code < 500


def test_a_logged_traceback_holds_no_values(
    faulty: FastAPI, sessions: Sessions, caplog: pytest.LogCaptureFixture
) -> None:
    router = APIRouter()

    @router.get("/twice")
    def get_twice() -> None:
        with sessions.write.begin() as session:
            make_user(session, email=PRIVATE)
            make_user(session, email=PRIVATE)

    faulty.include_router(router)
    with open_client(faulty) as client:
        assert client.get("/twice").status_code == 500
    lines = [JsonLines().format(record) for record in caplog.records if record.exc_info]
    assert any("IntegrityError" in line for line in lines)
    assert PRIVATE not in "".join(lines)


def test_a_request_that_a_stopping_server_cancels_can_be_sent_again() -> None:
    sent: list[Message] = []

    async def slow(_scope: Scope, _receive: Receive, _send: Send) -> None:
        await asyncio.Event().wait()

    async def collect(message: Message) -> None:
        sent.append(message)

    async def nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def cancelled() -> None:
        scope = {
            **{"type": "http", "method": "POST", "path": "/api/v1/assignments/1/log"},
            **{"headers": [], "query_string": b"", "root_path": "", "server": ("localhost", 80)},
        }
        task = asyncio.create_task(RequestLog(slow)(scope, nothing, collect))
        await asyncio.sleep(0)
        task.cancel()
        await task

    in_thread(asyncio.run, cancelled())
    headers = dict(sent[0]["headers"])
    assert sent[0]["status"] == 503
    assert int(headers[b"retry-after"]) > 0
    assert "send it again" in json.loads(sent[1]["body"])["detail"]

"""Table of routes and the roles that may use them.

A route that is missing in the table fails the test, so that every new route gets its roles.
"""

from collections.abc import Iterator

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount

from tests.factories import make_user, sign_in
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import User
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import tokens
from topkapi.app.web.access.deps import SAFE_METHODS
from topkapi.app.web.common.cookies import CSRF_HEADER, SESSION_COOKIE

EVERYONE = "everyone"  # signed in or not
LINK = "holders of the link"  # a signed link in the path; a forged one is always refused
PEOPLE = frozenset(Role)  # anyone signed in
RESEARCH = frozenset({Role.RESEARCHER, Role.ADMIN})
ADMINS = frozenset({Role.ADMIN})

ALLOWED: dict[str, str | frozenset[Role]] = {
    "GET /healthz": EVERYONE,
    "GET /readyz": EVERYONE,
    "GET /sign-in": EVERYONE,
    "POST /sign-in": EVERYONE,
    "POST /sign-out": PEOPLE,
    "GET /keys": PEOPLE,
    "POST /keys": PEOPLE,
    "GET /": PEOPLE,
    "GET /queue": PEOPLE,
    "GET /me": PEOPLE,
    "POST /me/name": PEOPLE,
    "POST /me/password": PEOPLE,
    "GET /me/data": PEOPLE,
    "POST /me/tokens": PEOPLE,
    "POST /me/tokens/{token_id}/revoke": PEOPLE,
    "GET /results": RESEARCH,
    "GET /tables/{table}.csv": ADMINS,
    "GET /studies/{slug}/tables/{table}.csv": RESEARCH,
    "GET /studies/{slug}/payments.csv": ADMINS,
    "GET /studies/{slug}/messages": ADMINS,
    "POST /studies/{slug}/messages": ADMINS,
    "GET /api/v1/studies/{slug}/payments": ADMINS,
    "GET /dashboard/{slug}/agreement": RESEARCH,
    "GET /assignments/{assignment_id}": PEOPLE,
    "GET /assignments/{assignment_id}/guidelines": PEOPLE,
    "GET /assignments/{assignment_id}/history": PEOPLE,
    "GET /assignments/{assignment_id}/next": PEOPLE,
    "POST /assignments/{assignment_id}/judgments": PEOPLE,
    "POST /assignments/{assignment_id}/terms": PEOPLE,
    "POST /assignments/{assignment_id}/timer": PEOPLE,
    "POST /assignments/{assignment_id}/flags": PEOPLE,
    "GET /training/{slug}": PEOPLE,
    "POST /training/{slug}/guidelines": PEOPLE,
    "POST /training/{slug}/answers": PEOPLE,
    "GET /pages/{token}/{path:path}": LINK,
    "GET /studies/{slug}/exports": RESEARCH,
    "GET /studies/{slug}/exports/{format}": RESEARCH,
    "GET /studies/{slug}/report": RESEARCH,
    "GET /studies/{slug}/report.zip": RESEARCH,
    "GET /studies/{slug}/lists": RESEARCH,
    "GET /studies/{slug}/models": RESEARCH,
    "POST /studies/{slug}/models": RESEARCH,
    "POST /studies/{slug}/confidence": RESEARCH,
    "POST /studies/{slug}/report": RESEARCH,
    "GET /studies/{slug}/jobs/{job_id}": RESEARCH,
    "POST /studies/{slug}/jobs/{job_id}/stop": RESEARCH,
    "GET /studies/{slug}/jobs/{job_id}/models/{model}.json": RESEARCH,
    "GET /studies/{slug}/jobs/{job_id}/runs/{model}.txt": RESEARCH,
    "GET /studies/{slug}/jobs/{job_id}/tables/{table}.csv": RESEARCH,
    "GET /studies/{slug}/systems": RESEARCH,
    "POST /studies/{slug}/systems": ADMINS,
    "POST /studies/{slug}/systems/labels": RESEARCH,
    "GET /studies/{slug}/systems.csv": RESEARCH,
    "POST /studies/{slug}/systems/{run_id}/remove": ADMINS,
    "GET /api/v1/studies/{slug}/systems": RESEARCH,
    "POST /api/v1/studies/{slug}/systems": ADMINS,
    "GET /api/v1/studies/{slug}/systems/scores": RESEARCH,
    "DELETE /api/v1/studies/{slug}/systems/{run_id}": ADMINS,
    "GET /api/v1/studies/{slug}/jobs": RESEARCH,
    "POST /api/v1/studies/{slug}/jobs": RESEARCH,
    "GET /api/v1/studies/{slug}/jobs/{job_id}": RESEARCH,
    "POST /api/v1/studies/{slug}/jobs/{job_id}/stop": RESEARCH,
    "GET /api/v1/openapi.json": EVERYONE,
    "GET /api/v1/me": PEOPLE,
    "GET /api/v1/assignments": PEOPLE,
    "GET /api/v1/assignments/{assignment_id}": PEOPLE,
    "POST /api/v1/assignments/{assignment_id}/judgments": PEOPLE,
    "POST /api/v1/assignments/{assignment_id}/undo": PEOPLE,
    "POST /api/v1/assignments/{assignment_id}/redo": PEOPLE,
    "GET /api/v1/assignments/{assignment_id}/history": PEOPLE,
    "POST /api/v1/assignments/{assignment_id}/flags": PEOPLE,
    "GET /api/v1/training/{slug}": PEOPLE,
    "POST /api/v1/training/{slug}/guidelines": PEOPLE,
    "POST /api/v1/training/{slug}/answers": PEOPLE,
    "GET /api/v1/studies": RESEARCH,
    "GET /api/v1/studies/{slug}": RESEARCH,
    "GET /api/v1/studies/{slug}/exports": RESEARCH,
    "GET /api/v1/studies/{slug}/exports/{format}": RESEARCH,
    "GET /api/v1/studies/{slug}/report": RESEARCH,
    "GET /api/v1/studies/{slug}/lists": RESEARCH,
    "GET /people": ADMINS,
    "POST /people": ADMINS,
    "GET /people/{user_id}": ADMINS,
    "POST /people/{user_id}/link": ADMINS,
    "POST /people/{user_id}/role": ADMINS,
    "POST /people/{user_id}/disable": ADMINS,
    "POST /people/{user_id}/enable": ADMINS,
    "POST /people/{user_id}/erase": ADMINS,
    "POST /api/v1/users/{user_id}/erase": ADMINS,
    "POST /api/v1/studies/{slug}/assignments/bulk": ADMINS,
    "POST /studies/{slug}/adjudication/all": ADMINS,
    "POST /people/{user_id}/tokens": ADMINS,
    "POST /people/{user_id}/tokens/{token_id}/revoke": ADMINS,
    "GET /invitations/{token}": LINK,
    "POST /invitations/{token}": LINK,
    "GET /enter/{token}": LINK,
    "GET /enter/{token}/declined": LINK,
    "POST /enter/{token}": LINK,
    "GET /studies/{slug}/crowd": ADMINS,
    "POST /studies/{slug}/crowd": ADMINS,
    "POST /studies/{slug}/crowd/{link_id}/close": ADMINS,
    "POST /studies/{slug}/crowd/{link_id}/open": ADMINS,
    "GET /studies": RESEARCH,
    "GET /studies/{slug}": RESEARCH,
    "GET /studies/{slug}/guidelines": RESEARCH,
    "GET /studies/{slug}/guidelines/history": RESEARCH,
    "GET /studies/{slug}/queries": RESEARCH,
    "GET /studies/{slug}/queries/{query_id}": RESEARCH,
    "GET /studies/{slug}/queries/{query_id}/questions/{assignment_id}": RESEARCH,
    "GET /studies/{slug}/documents": RESEARCH,
    "GET /studies/{slug}/progress": RESEARCH,
    "POST /studies/{slug}/archive": ADMINS,
    "POST /studies/{slug}/unarchive": ADMINS,
    "GET /studies/{slug}/settings": ADMINS,
    "POST /studies/{slug}/settings": ADMINS,
    "GET /studies/{slug}/guidelines/edit": ADMINS,
    "POST /studies/{slug}/guidelines": ADMINS,
    "GET /studies/{slug}/training": RESEARCH,
    "POST /studies/{slug}/training": ADMINS,
    "POST /studies/{slug}/training/questions": ADMINS,
    "POST /studies/{slug}/training/questions/{item_id}/remove": ADMINS,
    "POST /studies/{slug}/training/people/{user_id}/grant": ADMINS,
    "POST /studies/{slug}/flags/{flag_id}/handle": ADMINS,
    "POST /studies/{slug}/flags/{flag_id}/reopen": ADMINS,
    "GET /studies/{slug}/delete": ADMINS,
    "POST /studies/{slug}/delete": ADMINS,
    "POST /studies/{slug}/copy": ADMINS,
    "GET /studies/{slug}/assign": ADMINS,
    "POST /studies/{slug}/assign": ADMINS,
    "POST /studies/{slug}/assign/one": ADMINS,
    "POST /studies/{slug}/assign/csv": ADMINS,
    "POST /studies/{slug}/assign/gaps": ADMINS,
    "GET /studies/{slug}/adjudication": ADMINS,
    "POST /studies/{slug}/adjudication": ADMINS,
    "POST /studies/{slug}/assign/rebalance": ADMINS,
    "GET /studies/{slug}/work": ADMINS,
    "POST /studies/{slug}/work/bulk": ADMINS,
    "POST /studies/{slug}/work/{assignment_id}/withdraw": ADMINS,
    "POST /studies/{slug}/work/{assignment_id}/reassign": ADMINS,
    "GET /imports": ADMINS,
    "POST /imports": ADMINS,
    "GET /imports/{upload_id}": ADMINS,
    "POST /imports/{upload_id}/confirm": ADMINS,
    "POST /imports/{upload_id}/cancel": ADMINS,
    "GET /audit": ADMINS,
    "GET /api/v1/users": ADMINS,
    "POST /api/v1/users": ADMINS,
    "GET /api/v1/users/{user_id}": ADMINS,
    "PATCH /api/v1/users/{user_id}": ADMINS,
    "POST /api/v1/users/{user_id}/link": ADMINS,
    "GET /api/v1/users/{user_id}/tokens": ADMINS,
    "POST /api/v1/users/{user_id}/tokens": ADMINS,
    "DELETE /api/v1/users/{user_id}/tokens/{token_id}": ADMINS,
    "POST /api/v1/studies": ADMINS,
    "PATCH /api/v1/studies/{slug}": ADMINS,
    "DELETE /api/v1/studies/{slug}": ADMINS,
    "POST /api/v1/studies/{slug}/copy": ADMINS,
    "POST /api/v1/studies/{slug}/rotation": ADMINS,
    "GET /api/v1/studies/{slug}/assignments": RESEARCH,
    "POST /api/v1/studies/{slug}/assignments": ADMINS,
    "POST /api/v1/studies/{slug}/assignments/csv": ADMINS,
    "POST /api/v1/studies/{slug}/gaps": ADMINS,
    "GET /api/v1/studies/{slug}/adjudication": ADMINS,
    "POST /api/v1/studies/{slug}/adjudication": ADMINS,
    "GET /api/v1/studies/{slug}/entry-links": ADMINS,
    "POST /api/v1/studies/{slug}/entry-links": ADMINS,
    "PATCH /api/v1/studies/{slug}/entry-links/{link_id}": ADMINS,
    "POST /api/v1/studies/{slug}/rebalancing": ADMINS,
    "POST /api/v1/studies/{slug}/assignments/{assignment_id}/withdraw": ADMINS,
    "POST /api/v1/studies/{slug}/assignments/{assignment_id}/reassign": ADMINS,
    "GET /api/v1/studies/{slug}/progress": RESEARCH,
    "GET /api/v1/studies/{slug}/progress/assessors": RESEARCH,
    "GET /api/v1/studies/{slug}/progress/queries": RESEARCH,
    "GET /api/v1/studies/{slug}/queries": RESEARCH,
    "GET /api/v1/studies/{slug}/documents": RESEARCH,
    "GET /api/v1/studies/{slug}/training": RESEARCH,
    "POST /api/v1/studies/{slug}/training/questions": ADMINS,
    "DELETE /api/v1/studies/{slug}/training/questions/{item_id}": ADMINS,
    "POST /api/v1/studies/{slug}/training/people/{user_id}/grant": ADMINS,
    "GET /api/v1/studies/{slug}/flags": RESEARCH,
    "POST /api/v1/studies/{slug}/flags/{flag_id}/handle": ADMINS,
    "POST /api/v1/studies/{slug}/flags/{flag_id}/reopen": ADMINS,
    "GET /api/v1/audit": ADMINS,
}
MOUNTS = {"/static"}
REFUSED = {401, 403}
Visitor = Role | None


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield method and path of every route."""
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, Mount):
            assert context.path in MOUNTS, context.path
            continue
        for method in sorted((context.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, str(context.path)


@pytest.fixture
def people(sessions: Sessions) -> dict[Role, tuple[User, str]]:
    """Create one person per role, with a token."""
    with sessions.write.begin() as session:
        users = {role: make_user(session, role=role) for role in Role}
        return {
            role: (user, tokens.issue_token(session, user, "test")[1])
            for role, user in users.items()
        }


def ask(
    app: FastAPI, client: httpx.Client, method: str, path: str, person: tuple[User, str] | None
) -> httpx.Response:
    """Send a request as ``person``: with a token to the API, with a cookie to pages."""
    client.cookies.clear()
    client.headers.pop(CSRF_HEADER, None)
    headers = {}
    if person is not None:
        user, token = person
        if path.startswith("/api/"):
            headers["Authorization"] = f"Bearer {token}"
        else:
            sign_in(app, client, user)
    return client.request(method, address_of(path), headers=headers)


def address_of(path: str) -> str:
    """Return an address for the route ``path``, with parameters that match nothing."""
    address = path.replace("{", "").replace("}", "")
    for name in (
        "assignment_id",
        "user_id",
        "token_id",
        "study_id",
        "document_id",
        "item_id",
        "flag_id",
        "link_id",
        "run_id",
    ):
        address = address.replace(f"/{name}", "/999999")
    return address


def is_refused(answer: httpx.Response) -> bool:
    led_to_sign_in = answer.headers.get("location", "").startswith("/sign-in")
    return answer.status_code in REFUSED or (answer.status_code == 303 and led_to_sign_in)


def test_the_table_names_exactly_the_routes_there_are(app: FastAPI) -> None:
    assert {f"{method} {path}" for method, path in routes_of(app)} == set(ALLOWED)


def test_every_route_lets_in_whom_the_table_names(
    app: FastAPI, client: httpx.Client, people: dict[Role, tuple[User, str]]
) -> None:
    visitors: list[Visitor] = [None, *Role]
    wrong = []
    for method, path in routes_of(app):
        allowed = ALLOWED.get(f"{method} {path}", ADMINS)
        for visitor in visitors:
            person = people[visitor] if visitor else None
            if (method, path) == ("POST", "/sign-out"):
                continue  # has its own tests: it ends the sessions that the other routes need
            if (method, path) == ("POST", "/sign-in"):
                continue  # takes a password instead of a cookie: has its own tests
            may = allowed == EVERYONE or (visitor is not None and visitor in allowed)
            answer = ask(app, client, method, path, person)
            if is_refused(answer) is may or answer.status_code >= 500:
                wrong.append((method, path, visitor, answer.status_code))
    assert wrong == []


def test_every_write_of_a_page_needs_its_csrf_token(
    app: FastAPI, client: httpx.Client, people: dict[Role, tuple[User, str]]
) -> None:
    for method, path in routes_of(app):
        if method in SAFE_METHODS or path.startswith("/api/"):
            continue
        client.cookies.clear()
        sign_in(app, client, people[Role.ADMIN][0])
        del client.headers[CSRF_HEADER]
        assert client.request(method, path).status_code == 403, f"{method} {path}"


def test_no_api_route_takes_a_cookie(
    app: FastAPI, client: httpx.Client, people: dict[Role, tuple[User, str]]
) -> None:
    sign_in(app, client, people[Role.ADMIN][0])
    assert SESSION_COOKIE in client.cookies
    for method, path in routes_of(app):
        if path.startswith("/api/") and ALLOWED.get(f"{method} {path}") != EVERYONE:
            assert client.request(method, path).status_code == 401, f"{method} {path}"

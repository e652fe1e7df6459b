"""Table of routes and the roles that may use them, and for whom a study is there.

A route that is missing in the table fails the test, so that every new route gets its roles. Routes
that name a study are asked about one that the researcher was given, about another one, and about
one that does not exist.
"""

from collections.abc import Iterator
from html import unescape
from itertools import product

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from sqlalchemy import select
from starlette.routing import Mount

from tests.exporting import make_judged_study
from tests.factories import make_user, queries_of, sign_in
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Study, StudyAccess, User
from topkapi.app.domain.enums import Role
from topkapi.app.services.accounts import tokens
from topkapi.app.services.jobs.store import queue_job
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
    "GET /metrics": EVERYONE,  # with a token of its own
    "GET /sign-in": EVERYONE,
    "POST /sign-in": EVERYONE,
    "GET /sign-in/oidc": EVERYONE,
    "GET /sign-in/oidc/callback": EVERYONE,
    "POST /sign-out": PEOPLE,
    "GET /help/{path:path}": PEOPLE,
    "GET /keys": PEOPLE,
    "POST /keys": PEOPLE,
    "GET /": PEOPLE,
    "GET /queue": PEOPLE,
    "GET /me": PEOPLE,
    "POST /me/name": PEOPLE,
    "POST /me/password": PEOPLE,
    "POST /me/codes": PEOPLE,
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
    "GET /assignments/{assignment_id}/progress": PEOPLE,
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
    "GET /studies/{slug}/plan": RESEARCH,
    "POST /studies/{slug}/plan": RESEARCH,
    "GET /studies/{slug}/models": RESEARCH,
    "POST /studies/{slug}/models": RESEARCH,
    "GET /studies/{slug}/machines": ADMINS,
    "POST /studies/{slug}/machines": ADMINS,
    "POST /studies/{slug}/machines/prompts": ADMINS,
    "POST /studies/{slug}/machines/grades": ADMINS,
    "GET /studies/{slug}/certificate": RESEARCH,
    "GET /studies/{slug}/certificate.json": RESEARCH,
    "POST /studies/{slug}/confidence": RESEARCH,
    "POST /studies/{slug}/report": RESEARCH,
    "POST /dashboard/{slug}/agreement": RESEARCH,
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
    "GET /first/{code}": LINK,
    "POST /first/{code}": LINK,
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
    "GET /studies/{slug}/queries/{query_id}/answers": RESEARCH,
    "GET /studies/{slug}/queries/{query_id}/questions/{assignment_id}": RESEARCH,
    "GET /studies/{slug}/queries/{query_id}/questions/{assignment_id}/{number}": RESEARCH,
    "GET /studies/{slug}/queries/{query_id}/unjudged": RESEARCH,
    "GET /studies/{slug}/documents": RESEARCH,
    "GET /studies/{slug}/progress": RESEARCH,
    "POST /studies/{slug}/access": ADMINS,
    "GET /api/v1/studies/{slug}/access": ADMINS,
    "PUT /api/v1/studies/{slug}/access/{user_id}": ADMINS,
    "DELETE /api/v1/studies/{slug}/access/{user_id}": ADMINS,
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
    "GET /studies/{slug}/adjudication": ADMINS,
    "POST /studies/{slug}/adjudication": ADMINS,
    "POST /studies/{slug}/assign/rebalance": ADMINS,
    "GET /studies/{slug}/work": ADMINS,
    "POST /studies/{slug}/work/bulk": ADMINS,
    "POST /studies/{slug}/work/{assignment_id}/withdraw": ADMINS,
    "POST /studies/{slug}/work/{assignment_id}/reassign": ADMINS,
    "GET /imports": ADMINS,
    "POST /imports": ADMINS,
    "GET /imports/example.zip": ADMINS,
    "POST /imports/example": ADMINS,
    "POST /demo": ADMINS,
    "POST /studies/{slug}/assign/people": ADMINS,
    "GET /api/v1/studies/{slug}/state": RESEARCH,
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
OUTSIDER = "a researcher without studies"
GIVEN, FOREIGN, NOWHERE = "given-study", "foreign-study", "no-study"
LISTS = {"/", "/studies", "/results", "/api/v1/studies"}  # of studies
People = dict[str, tuple[User, str]]


def routes_of(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield method and path of every route."""
    for context in iter_route_contexts(app.routes):
        if isinstance(context.original_route, Mount):
            assert context.path in MOUNTS, context.path
            continue
        for method in sorted((context.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, str(context.path)


@pytest.fixture
def people(sessions: Sessions) -> People:
    """Create one person per role, with a token, and a researcher without studies."""
    with sessions.write.begin() as session:
        users = {str(role): make_user(session, role=role) for role in Role}
        users[OUTSIDER] = make_user(session, role=Role.RESEARCHER, reads=False)
        return {
            name: (user, tokens.issue_token(session, user, "test")[1])
            for name, user in users.items()
        }


@pytest.fixture
def studies(sessions: Sessions, people: People) -> dict[str, Study]:
    """Create a study that the researcher was given and one that no researcher was given."""
    with sessions.write.begin() as session:
        made = {slug: make_judged_study(session, slug=slug) for slug in (GIVEN, FOREIGN)}
        given = (people["researcher"][0].id, made[GIVEN].id)
        for row in session.scalars(select(StudyAccess)):
            if (row.user_id, row.study_id) != given:
                session.delete(row)
    return made


def ask(
    app: FastAPI,
    client: httpx.Client,
    method: str,
    path: str,
    person: tuple[User, str] | None,
    slug: str = "slug",
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
    return client.request(method, address_of(path, slug), headers=headers)


def address_of(path: str, slug: str = "slug") -> str:
    """Return an address for the route ``path``, with parameters that match nothing."""
    address = path.replace("{slug}", slug).replace("{", "").replace("}", "")
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
        "job_id",
        "query_id",
    ):
        address = address.replace(f"/{name}", "/999999")
    return address


def is_refused(answer: httpx.Response) -> bool:
    led_to_sign_in = answer.headers.get("location", "").startswith("/sign-in")
    return answer.status_code in REFUSED or (answer.status_code == 303 and led_to_sign_in)


def test_the_table_names_exactly_the_routes_there_are(app: FastAPI) -> None:
    assert {f"{method} {path}" for method, path in routes_of(app)} == set(ALLOWED)
    for route, allowed in ALLOWED.items():  # researchers are checked by this parameter
        assert allowed != RESEARCH or "{" not in route or "{slug}" in route, route


def test_every_route_lets_in_whom_the_table_names(
    app: FastAPI, client: httpx.Client, people: People
) -> None:
    wrong = []
    for method, path in routes_of(app):
        allowed = ALLOWED.get(f"{method} {path}", ADMINS)
        for visitor in (None, *people):
            person = people[visitor] if visitor else None
            if (method, path) == ("POST", "/sign-out"):
                continue  # has its own tests: it ends the sessions that the other routes need
            if (method, path) == ("POST", "/sign-in"):
                continue  # takes a password instead of a cookie: has its own tests
            may = allowed == EVERYONE or (person is not None and person[0].role in allowed)
            answer = ask(app, client, method, path, person)
            if is_refused(answer) is may or answer.status_code >= 500:
                wrong.append((method, path, visitor, answer.status_code))
    assert wrong == []


@pytest.mark.thorough
def test_a_study_is_there_only_for_those_who_were_given_it(
    app: FastAPI, client: httpx.Client, people: People, studies: dict[str, Study]
) -> None:
    """Ask every route that names a study; administrators only read, so that the studies stay."""
    wrong = []
    for method, path in routes_of(app):
        allowed = ALLOWED[f"{method} {path}"]
        if "{slug}" not in path or not isinstance(allowed, frozenset) or allowed == PEOPLE:
            continue
        for visitor, slug in product((None, *people), (*studies, NOWHERE)):
            person = people[visitor] if visitor else None
            if visitor == Role.ADMIN and (method != "GET" or slug == NOWHERE):
                continue
            if person is None or person[0].role not in allowed:
                expected = "refused"
            elif visitor == Role.ADMIN or (visitor, slug) == (Role.RESEARCHER, GIVEN):
                expected = "there"
            else:
                expected = "not there"
            answer = ask(app, client, method, path, person, slug)
            if seen(answer, slug) != expected or answer.status_code >= 500:
                wrong.append((method, path, visitor, slug, answer.status_code, expected))
    assert wrong == []


@pytest.mark.thorough
@pytest.mark.usefixtures("studies")
def test_training_is_there_only_with_work(
    app: FastAPI, client: httpx.Client, people: People
) -> None:
    for method, path in routes_of(app):
        if "{slug}" in path and ALLOWED[f"{method} {path}"] == PEOPLE:
            for person in people.values():
                answers = [ask(app, client, method, path, person, s) for s in (GIVEN, NOWHERE)]
                assert len({answer.status_code for answer in answers}) == 1, path
                assert answers[0].status_code in (404, 422), path


def seen(answer: httpx.Response, slug: str) -> str:
    """Return what an answer tells about a study: that one may not ask, or whether it is there."""
    if is_refused(answer):
        return "refused"
    is_absent = answer.status_code == 404 and f"There is no study {slug!r}." in unescape(
        answer.text
    )
    return "not there" if is_absent else "there"


@pytest.mark.thorough
@pytest.mark.usefixtures("studies")
def test_no_list_names_a_study_of_others(
    app: FastAPI, client: httpx.Client, people: People
) -> None:
    for method, path in routes_of(app):
        if method != "GET" or "{" in path or ALLOWED[f"GET {path}"] not in (RESEARCH, PEOPLE):
            continue
        mine, none, all_ = (
            ask(app, client, method, path, people[name])
            for name in (Role.RESEARCHER, OUTSIDER, Role.ADMIN)
        )
        assert FOREIGN not in mine.text + none.text, path
        assert GIVEN not in none.text, path
        if path in LISTS:
            assert (GIVEN in mine.text, FOREIGN in all_.text) == (True, True), path
            assert mine.headers.get("X-Total-Count", "1") == "1"


@pytest.mark.thorough
def test_what_belongs_to_another_study_is_not_found_under_ones_own(
    app: FastAPI,
    client: httpx.Client,
    people: People,
    studies: dict[str, Study],
    sessions: Sessions,
) -> None:
    with sessions.write.begin() as session:
        job = queue_job(session, studies[FOREIGN], "report", {})
        query = queries_of(session, studies[FOREIGN])[0]
        work = session.scalars(select(Assignment).where(Assignment.query_id == query.id)).first()
        assert work is not None
        session.flush()
        below = (
            *(f"jobs/{job.id}", f"jobs/{job.id}/models/x.json", f"jobs/{job.id}/tables/x.csv"),
            *(f"queries/{query.id}", f"queries/{query.id}/questions/{work.id}"),
            *(f"queries/{query.id}/unjudged", f"queries/{query.id}/answers"),
        )
    places = [f"/studies/{{slug}}/{each}" for each in below]
    for path in (*places, f"/api/v1/studies/{{slug}}/{below[0]}"):
        mine = ask(app, client, "GET", path, people["researcher"], GIVEN)
        assert (mine.status_code, seen(mine, GIVEN)) == (404, "there"), path
    for path in (places[0], *places[3:]):
        assert ask(app, client, "GET", path, people["admin"], FOREIGN).status_code == 200, path


def test_every_write_of_a_page_needs_its_csrf_token(
    app: FastAPI, client: httpx.Client, people: People
) -> None:
    for method, path in routes_of(app):
        if method in SAFE_METHODS or path.startswith("/api/"):
            continue
        client.cookies.clear()
        sign_in(app, client, people[Role.ADMIN][0])
        del client.headers[CSRF_HEADER]
        assert client.request(method, path).status_code == 403, f"{method} {path}"


def test_no_api_route_takes_a_cookie(app: FastAPI, client: httpx.Client, people: People) -> None:
    sign_in(app, client, people[Role.ADMIN][0])
    assert SESSION_COOKIE in client.cookies
    for method, path in routes_of(app):
        if path.startswith("/api/") and ALLOWED.get(f"{method} {path}") != EVERYONE:
            assert client.request(method, path).status_code == 401, f"{method} {path}"

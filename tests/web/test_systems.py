"""Systems over HTTP: uploads with their bounds, scores, the table to download, and the API."""

import asyncio
import csv
import io
from threading import Event

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.asgi import begin, scope_of
from tests.clients import tight
from tests.exporting import judge, make_judged_study
from tests.factories import (
    Enter,
    make_assignment,
    make_study,
    make_user,
    queries_of,
    sign_in,
    token_headers,
)
from tests.ranked import compare_lists
from tests.systems import packed, run_of
from tests.threads import in_thread
from tests.waiting import WATCHDOG, until
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.jobs.worker import Worker
from topkapi.app.services.results.reports import cache
from topkapi.app.services.results.systems import scoring
from topkapi.app.services.results.systems.cache import SystemReports

URL = "/studies/tulips/systems"
API = f"/api/v1{URL}"


@pytest.fixture
def admin(sessions: Sessions) -> tuple[User, dict[str, str]]:
    """Store a judged study and an administrator with a token."""
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.ADMIN)
        make_judged_study(session)
        return user, token_headers(session, user)


def upload(client: httpx.Client, *files: tuple[str, bytes]) -> httpx.Response:
    return client.post(URL, files=[("files", each) for each in files])


@pytest.mark.thorough
def test_pages(
    app: FastAPI, client: httpx.Client, sessions: Sessions, admin: tuple[User, dict[str, str]]
) -> None:
    sign_in(app, client, admin[0])
    assert "Add TREC runs below" in client.get(URL).text
    empty = upload(client)
    assert (empty.status_code, "There is no file" in empty.text) == (422, True)
    bad = upload(client, ("<b>.run", b"q0 Q0 d1\n"), ("good", run_of("up").encode()))
    assert bad.status_code == 422
    assert "&lt;b&gt;.run, line 1: 3 columns" in bad.text
    sent = ("a.run", run_of("=up").encode()), ("b.run.gz", packed(run_of("down", turned=True)))
    added = upload(client, *sent)
    assert (added.status_code, added.headers["location"]) == (303, URL)
    page = client.get(URL, params={"baseline": "down", "measure": "map"}).text
    assert "Corrected p" in page
    assert "not significant" in page
    assert 'aria-label="map by system with 95 % intervals: ' in page
    table = client.get(f"{URL}.csv", params={"baseline": "down"})
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert {row["system"] for row in rows} == {"'=up", "down"}
    assert {row["baseline"] for row in rows if row["system"] != "down"} == {"down"}
    for wrong in ({"baseline": "x"}, {"truth": "x"}, {"measure": "x"}):
        assert client.get(URL, params=wrong).status_code == 422
    with sessions.write.begin() as session:
        compare_lists(session, "tulips", make_user(session).email)
    page = client.get(URL).text
    assert "Leaderboard from comparisons of lists" in page
    assert "system-0" in page
    assert "Too few queries to tell the systems apart" in page
    assert client.post(f"{URL}/1/remove").status_code == 303
    assert client.post(f"{URL}/1/remove").status_code == 404


@pytest.mark.thorough
def test_labels_of_a_large_study_are_computed_in_the_background(
    app: FastAPI,
    client: httpx.Client,
    sessions: Sessions,
    admin: tuple[User, dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sign_in(app, client, admin[0])
    upload(client, ("a.run", (run_of("up") + run_of("down", turned=True)).encode()))
    scores, table = client.get(f"{API}/scores", headers=admin[1]).text, client.get(f"{URL}.csv")
    monkeypatch.setattr(cache, "MOST_ANSWERS", 10)
    with monkeypatch.context() as patched:
        patched.setattr(scoring, "study_labels", lambda _source: pytest.fail("in a request"))
        waiting = client.get(URL).text
        assert "Compute the scores" in waiting
        assert "Remove<" in tight(waiting), "runs can be added and removed before"
        for refused in (client.get(f"{URL}.csv"), client.get(f"{API}/scores", headers=admin[1])):
            assert (refused.status_code, "not computed yet" in refused.text) == (409, True)
        address = client.post(f"{URL}/labels").headers["location"]
        assert f'hx-get="{address}"' in client.get(URL).text, "the page shows the progress"
    Worker(sessions).run(until_empty=True)
    with monkeypatch.context() as patched:
        patched.setattr(scoring, "study_labels", lambda _source: pytest.fail("in a request"))
        assert client.get(address, headers={"HX-Request": "true"}).headers["hx-redirect"] == URL
        assert "Compute the scores" not in client.get(URL).text
        assert client.get(f"{API}/scores", headers=admin[1]).text == scores
        assert client.get(f"{URL}.csv").text == table.text
        assert client.post(f"{URL}/labels").headers["location"] == URL, "they are current"
        with sessions.write.begin() as session:
            study = session.scalars(select(Study)).one()
            judge(session, make_assignment(session, query=queries_of(session, study)[2]))
        assert "the study has changed since" in client.get(URL).text
        assert client.get(f"{API}/scores", headers=admin[1]).status_code == 409


def test_a_second_viewer_waits_without_a_slot(
    app: FastAPI, admin: tuple[User, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    entered, leave = Event(), Event()

    def slow(*_given: object, **_chosen: object) -> None:
        entered.set()
        leave.wait(WATCHDOG)
        raise Invalid("computed")

    monkeypatch.setattr(SystemReports, "report", slow)
    limits = app.state.transaction_limits

    async def two_viewers() -> list[int]:
        scopes = [scope_of("GET", f"{API}/scores", admin[1]) for _ in range(2)]
        async with app.router.lifespan_context(app):
            asked = [begin(app, scope, (b"",)) for scope in scopes]
            tasks = [asyncio.create_task(each) for each in asked]
            await asyncio.to_thread(entered.wait, WATCHDOG)
            flight = limits.flights.of(f"{API}/scores")
            waiting = flight.limiter.statistics
            await asyncio.to_thread(until, lambda: waiting().tasks_waiting, "the second viewer")
            assert limits.export.limiter.borrowed_tokens == 1
            leave.set()
            return [(await task)[0].status for task in tasks]

    assert in_thread(asyncio.run, two_viewers()) == [422, 422]


def test_a_study_without_anything_says_what_to_do(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="tulips")
    enter(role=Role.RESEARCHER)
    page = client.get(URL).text
    assert "No systems and no labels yet" in page
    assert "An administrator can add and remove runs" in page
    assert "<input" not in page.partition("<main")[2]
    assert client.get(f"{URL}.csv").text == ""


def test_api(client: httpx.Client, admin: tuple[User, dict[str, str]]) -> None:
    headers = admin[1]
    body = run_of("up") + run_of("down", turned=True)
    added = client.post(API, params={"filename": "both.run"}, headers=headers, content=body)
    assert (added.status_code, [run["system"] for run in added.json()]) == (201, ["up", "down"])
    again = client.post(API, headers=headers, content=run_of("up")).json()
    assert again["code"] == "runs_refused"
    assert "already has a run of 'up'" in again["problems"][0]["problem"]
    listed = client.get(API, headers=headers).json()
    assert [(run["system"], run["file"], run["lines"]) for run in listed] == [
        ("down", "both.run", 18),
        ("up", "both.run", 18),
    ]
    found = client.get(f"{API}/scores", params={"baseline": "up"}, headers=headers).json()
    assert found["truths"] == ["topk", "graded"]
    assert found["scores"]["baseline"] == "up"
    assert found["leaderboard"] is None
    assert client.delete(f"{API}/{listed[0]['id']}", headers=headers).status_code == 204
    assert len(client.get(API, headers=headers).json()) == 1

from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from tests.asgi import exchange
from tests.commands import Command
from tests.exporting import judge_in_a_team, writable_exports
from tests.factories import Enter, make_study
from tests.ranked import compare_lists
from topkapi.app.db.engine import Sessions
from topkapi.app.domain.enums import Role
from topkapi.app.services.results.exports import EXPORTS
from topkapi.app.web.access import slots
from topkapi.app.web.access.slots import TransactionLimits

ANSA = "ansa@tulips.example"
API = "/api/v1/studies/tulips/exports"
PAGE = "/studies/tulips/exports"


@pytest.mark.parametrize(
    "options",
    [
        {"assessor": ANSA},
        pytest.param({"pseudonyms": "true"}, marks=pytest.mark.thorough),
        pytest.param({}, marks=pytest.mark.thorough),
    ],
)
def test_page_api_and_command_give_the_same_bytes(
    client: httpx.Client,
    headers: dict[str, str],
    options: dict[str, str],
    sessions: Sessions,
    folder_of_commands: Path,
    topkapi: Command,
) -> None:
    with sessions.write.begin() as session:
        compare_lists(session, "tulips", ANSA)
        judge_in_a_team(session, ANSA)
    arguments = ["--assessor", ANSA] if "assessor" in options else []
    arguments += ["--pseudonyms"] if "pseudonyms" in options else []
    for name in writable_exports():
        by_api = client.get(f"{API}/{name}", params=options, headers=headers)
        by_page = client.get(f"{PAGE}/{name}", params=options)
        out = folder_of_commands / f"{name}{EXPORTS[name].suffix}"
        topkapi.done("export", "tulips", name, "--out", str(out), *arguments)
        assert by_api.status_code == by_page.status_code == 200
        assert len(by_api.content) > 0
        assert by_api.content == by_page.content == out.read_bytes()


def test_a_download_says_what_it_is_and_how_complete(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    answer = client.get(f"{API}/timers.csv", headers=headers)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == 'attachment; filename="tulips.timers.csv"'
    assert (answer.headers["x-topkapi-assigned"], answer.headers["x-topkapi-finished"]) == (
        "8",
        "6",
    )
    assert answer.headers["cache-control"] == "no-store"


def test_the_api_lists_the_formats(client: httpx.Client, headers: dict[str, str]) -> None:
    listed = client.get(API, headers=headers).json()
    assert [each["format"] for each in listed] == list(EXPORTS)
    found = {each["format"]: each for each in listed}
    assert (found["topk.jsonl"]["finished"], found["topk.jsonl"]["assigned"]) == (3, 5)
    assert found["grades.qrels"]["complete"] is True


def test_refusals_of_the_api_say_what_to_mend(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    for path, status, says in (
        (f"{API}/qrels?assessor=eve", 404, "No assessor 'eve'"),
        (f"{API}/nothing", 404, "Choose one of topk.jsonl, topk.parquet, consensus.jsonl"),
        ("/api/v1/studies/roses/exports/qrels", 404, "no study 'roses'"),
        ("/api/v1/studies/roses/exports", 404, "no study 'roses'"),
        ("/api/v1/studies/roses", 404, "no study 'roses'"),
        ("/api/v1/studies/a%00b/exports", 422, "The address contains the character U+0000"),
    ):
        answer = client.get(path, headers=headers)
        assert answer.status_code == status, path
        assert answer.headers["content-type"] == "application/problem+json"
        assert says in answer.json()["detail"]


def test_studies_are_listed_a_page_at_a_time(
    client: httpx.Client, headers: dict[str, str], sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="roses", queries=2, documents=3)
    answer = client.get("/api/v1/studies", params={"limit": 1, "offset": 1}, headers=headers)
    assert answer.headers["x-total-count"] == "2"
    (roses,) = answer.json()
    assert (roses["slug"], roses["queries"], roses["candidates"]) == ("roses", 2, 6)
    first = client.get("/api/v1/studies", headers=headers).json()[0]
    assert (first["slug"], first["assignments"], first["finished"]) == ("tulips", 8, 6)
    study = client.get("/api/v1/studies/tulips", headers=headers).json()
    assert study["guidelines"] == "Prefer the page that helps."
    assert study["settings"]["sorter"] == "heap"
    assert {each["tool"]: each["finished"] for each in study["progress"]} == {
        "pairs": 3,
        "grades": 3,
    }
    assert client.get("/api/v1/studies?limit=0", headers=headers).status_code == 422


@pytest.mark.usefixtures("headers")
def test_the_page_links_to_every_file_it_can_make(client: httpx.Client) -> None:
    page = client.get(PAGE).text
    for name in writable_exports():
        assert f'href="{PAGE}/{name}"' in page
    assert "Pairs: 3 of 5" in page
    chosen = client.get(PAGE, params={"assessor": ANSA, "pseudonyms": "true"}).text
    assert f'href="{PAGE}/qrels?assessor=assessor-02&amp;pseudonyms=true"' in chosen
    assert "@tulips.example" not in chosen
    assert client.get("/studies/roses/exports").status_code == 404
    assert client.get(f"{PAGE}?assessor=eve").status_code == 404


@pytest.mark.usefixtures("headers")
def test_a_study_without_work_has_an_empty_page(client: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="fresh")
    assert "nothing assigned" in client.get("/studies/fresh/exports").text


def test_places_and_connections_come_back(
    app: FastAPI, client: httpx.Client, headers: dict[str, str]
) -> None:
    limits: TransactionLimits = app.state.transaction_limits
    for _ in range(3):
        assert client.get(f"{API}/pairs.tsv", headers=headers).status_code == 200
        assert client.get(f"{API}/nothing", headers=headers).status_code == 404
    assert limits.export.limiter.borrowed_tokens == limits.download.limiter.borrowed_tokens == 0
    assert app.state.engine.pool.checkedout() == 0


def test_too_many_downloads_at_once_are_asked_to_wait(
    app: FastAPI, client: httpx.Client, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get(f"{API}/pairs.tsv", headers=headers).status_code == 200
    limiter = app.state.transaction_limits.export.limiter
    for number in range(int(limiter.total_tokens)):
        limiter.acquire_on_behalf_of_nowait(number)
    with monkeypatch.context() as patch:
        patch.setattr(slots, "QUEUE_SECONDS", 0.01)  # seconds: their end is awaited
        answer = client.get(f"{API}/pairs.tsv", headers=headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    limiter.release_on_behalf_of(0)
    assert client.get(f"{API}/pairs.tsv", headers=headers).status_code == 200


def test_no_page_waits_for_a_download_or_a_computation(
    app: FastAPI,
    client: httpx.Client,
    headers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    enter: Enter,
) -> None:
    assert client.get(f"{API}/pairs.tsv", headers=headers).status_code == 200
    enter(role=Role.ADMIN)
    limiter = app.state.transaction_limits.export.limiter
    for number in range(int(limiter.total_tokens)):
        limiter.acquire_on_behalf_of_nowait(number)
    monkeypatch.setattr(slots, "QUEUE_SECONDS", 0.01)  # seconds: their end is awaited
    pages = ("report", "systems", "adjudication", "lists")
    found = {page: client.get(f"/studies/tulips/{page}").status_code for page in pages}
    assert found == dict.fromkeys(pages, 200)


@pytest.mark.thorough
def test_while_a_download_is_read_it_holds_no_connection(
    app: FastAPI, headers: dict[str, str]
) -> None:
    limits: TransactionLimits = app.state.transaction_limits
    open_connections: list[tuple[int, int]] = []

    def look(message: Message) -> None:
        if message["type"] == "http.response.body":
            used = limits.export.limiter.borrowed_tokens + limits.read.limiter.borrowed_tokens
            open_connections.append((app.state.engine.pool.checkedout(), used))

    for path in (f"{API}/topk.jsonl", "/api/v1/studies/tulips/report"):
        answer = exchange(app, "GET", path, headers=headers, on_send=look)
        assert answer.status == 200
        assert answer.body
    assert set(open_connections) == {(0, 0)}

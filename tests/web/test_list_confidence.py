"""Confidence of a list, on the pages and in the API."""

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.commands import Command
from tests.factories import Enter, make_assignment, token_headers
from tests.judging import answer_to, judge_to_the_end, make_job
from tests.web.test_labeling import form_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, User
from topkapi.app.domain.pairs.robust.sorter import Event, RobustSorter
from topkapi.app.services.jobs.worker import Worker


@pytest.fixture
def user(enter: Enter) -> User:
    return enter()


def finished_page(client: httpx.Client, sessions: Sessions, user: User, **plan: Any) -> str:
    with sessions.write.begin() as session:
        job = make_job(session, user=user, documents=8, k=3, **plan)
    assert judge_to_the_end(client, job)["state"] == "finished"
    return client.get(f"/assignments/{job.assignment_id}").text


@pytest.mark.thorough
def test_the_finished_page_of_a_robust_session_says_how_sure_it_is(
    client: httpx.Client, sessions: Sessions, user: User
) -> None:
    page = finished_page(client, sessions, user, sorter="robust", budget=20)
    assert "How reliable this list is" in page
    assert page.count('class="sureness"') >= 3
    assert "Expected quality" in page
    assert "Mistaken answers" in page


def test_other_sorters_claim_nothing(client: httpx.Client, sessions: Sessions, user: User) -> None:
    page = finished_page(client, sessions, user)
    assert "<h1>Your top 3</h1>" in page
    assert "How reliable" not in page
    assert "sureness" not in page


@pytest.mark.thorough
def test_by_program_the_result_carries_its_confidence(
    client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        robust = make_job(session, documents=8, k=3, sorter="robust", budget=20)
        heap = make_job(session, documents=8, k=3)
    result = judge_to_the_end(client, robust)["result"]
    sure = result["confidence"]
    assert 0 < sure["quality"] <= 1
    assert 0 < sure["error_rate"] < 0.5
    assert [page["document"] for page in sure["pages"][:3]] == result["ranking"]
    assert all(0 <= page["in_top"] <= 1 for page in sure["pages"])
    assert judge_to_the_end(client, heap)["result"]["confidence"] is None


@pytest.fixture
def open_transactions(app: FastAPI, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect how many transactions write whenever a sorter computes."""
    found: list[int] = []
    take, lane = RobustSorter.take, app.state.transaction_limits.write

    def noted(self: RobustSorter, step: Event) -> None:
        found.append(lane.limiter.borrowed_tokens)
        take(self, step)

    monkeypatch.setattr(RobustSorter, "take", noted)
    return found


def test_the_sorter_computes_while_no_transaction_is_open(
    client: httpx.Client, sessions: Sessions, open_transactions: list[int]
) -> None:
    with sessions.write.begin() as session:
        job = make_job(session, documents=8, k=3, sorter="robust", budget=9)
    judge_to_the_end(client, job)
    assert open_transactions == [1] + [0] * 8  # the first answer waits for what is known already


def test_so_it_does_in_the_browser(
    client: httpx.Client, sessions: Sessions, user: User, open_transactions: list[int]
) -> None:
    with sessions.write.begin() as session:
        work = make_assignment(session, user=user, sorter="robust")
    for _ in range(3):
        form = form_of(client.get(f"/assignments/{work.id}").text) | {"answer": "left"}
        client.post(f"/assignments/{work.id}/judgments", data=form)
    assert open_transactions == [1, 0, 0]


def test_the_answers_of_another_person_compute_nothing(
    client: httpx.Client, sessions: Sessions, user: User, open_transactions: list[int]
) -> None:
    with sessions.write.begin() as session:
        job = make_job(session, documents=8, k=3, sorter="robust", budget=9)
        theirs = token_headers(session, user)
    state = client.get(job.url, headers=job.headers).json()
    posted = f"{job.url}/judgments"
    state = client.post(posted, headers=job.headers, json=answer_to(state)).json()
    del open_transactions[:]
    assert client.post(posted, headers=theirs, json=answer_to(state)).status_code == 404
    assert client.post(posted.removeprefix("/api/v1"), data=answer_to(state)).status_code == 404
    assert not open_transactions


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"budget": 20}, "0 of 20 questions answered, 20 left"),
        (
            {"budget": 20, "stop_at": 0.9},
            "0 answered, at most 20 left; the expected quality of the list",
        ),
    ],
)
def test_progress_is_exact_or_shows_how_good_the_list_is(
    client: httpx.Client, sessions: Sessions, user: User, plan: dict[str, Any], words: str
) -> None:
    with sessions.write.begin() as session:
        job = make_job(session, user=user, documents=8, k=3, sorter="robust", **plan)
    page = client.get(f"/assignments/{job.assignment_id}").text
    assert words in page


@pytest.mark.thorough
def test_page_files_and_command_report_it_alike(
    client: httpx.Client,
    headers: dict[str, str],
    sessions: Sessions,
    folder_of_commands: Path,
    topkapi: Command,
) -> None:
    plain = client.get("/studies/tulips/report").text
    assert "Show confidence of the lists" in plain
    assert re.search(r"<li><a [^>]+>Page ", plain), "the consensus names titles"
    assert 'id="confidence"' not in plain
    early = client.get("/studies/tulips/report?confidence=true").text
    assert "not computed yet" in early
    assert client.get("/studies/tulips/report.zip?confidence=true").status_code == 409
    job = client.post("/studies/tulips/confidence").headers["location"]
    Worker(sessions).run(until_empty=True)
    ended = client.get(job, headers={"HX-Request": "true"})
    assert ended.headers["HX-Redirect"] == "/studies/tulips/report?confidence=true#confidence"
    again = client.post("/studies/tulips/confidence").headers["location"]
    assert again == ended.headers["HX-Redirect"], "it is current"
    page = client.get("/studies/tulips/report?confidence=true").text
    assert 'id="confidence"' in page
    assert "has changed since" not in page
    assert "style=" not in page
    packed = client.get("/studies/tulips/report.zip?confidence=true")
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    out = folder_of_commands / "out"
    topkapi.done("report", "tulips", "--out", str(out), "--no-plots", "--confidence")
    assert files == {path.name: path.read_bytes() for path in out.iterdir()}
    assert files["confidence.csv"].startswith(b"assessor,query,round,round_number,sorter,answers,")
    assert files["confidence.csv"].count(b"\n") == 4
    api = client.get("/api/v1/studies/tulips/report?confidence=true", headers=headers)
    assert len(api.json()["confidence"]["lists"]) == 3
    with sessions.write.begin() as session:
        session.scalars(select(Assignment).limit(1)).one().answered += 1
    late = client.get("/studies/tulips/report?confidence=true").text
    assert "has changed since" in late
    assert 'id="confidence"' in late
    assert client.post("/studies/tulips/confidence").headers["location"] != again

"""Judging through the API: to the end, repeated, stale, undone, and by others."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import event, func, select

from tests.cases import each_case
from tests.clients import open_client
from tests.judging import Job, answer_to, judge_to_the_end, make_job, number_of
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import JudgmentRow
from topkapi.app.db.queries.judging import labeling as labeling_queries
from topkapi.app.domain.enums import Tool

pytestmark = pytest.mark.both


@pytest.fixture
def job(sessions: Sessions) -> Job:
    with sessions.write.begin() as session:
        return make_job(session, documents=8, k=3)


def test_a_query_is_judged_to_its_end(client: httpx.Client, job: Job) -> None:
    mine = client.get("/api/v1/assignments", headers=job.headers)
    assert mine.headers["X-Total-Count"] == "1"
    (summary,) = mine.json()
    assert (summary["id"], summary["state"], summary["answered"]) == (
        job.assignment_id,
        "waiting",
        0,
    )
    first = client.get(job.url, headers=job.headers).json()
    assert first["state"] == "asking"
    assert first["tool"] == "pairs"
    assert first["position"] == 0
    assert set(first["question"]["left"]) == {"id", "title", "url", "text"}
    assert first["question"]["left"]["text"].startswith("Page ")
    assert {"answered", "expected_left", "low", "high"} <= set(first["progress"])
    assert "left_bad" in first["answers"]
    last = judge_to_the_end(client, job)
    assert last["question"] is None
    assert last["progress"]["expected_left"] == 0
    best = sorted(last["result"]["ranking"] + last["result"]["rest"], key=number_of, reverse=True)
    assert last["result"]["ranking"] == best[:3]
    (summary,) = client.get("/api/v1/assignments", headers=job.headers).json()
    assert summary["state"] == "finished"
    assert summary["answered"] == last["position"]


def test_sent_twice_it_counts_once(client: httpx.Client, job: Job, sessions: Sessions) -> None:
    state = client.get(job.url, headers=job.headers).json()
    body = answer_to(state)
    first = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    second = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    assert first.status_code == second.status_code == 200
    assert first.json() == second.json()
    assert _count(sessions) == 1


def test_another_answer_for_the_same_position_is_refused_with_the_state(
    client: httpx.Client, job: Job, sessions: Sessions
) -> None:
    state = client.get(job.url, headers=job.headers).json()
    body = answer_to(state)
    after = client.post(f"{job.url}/judgments", headers=job.headers, json=body).json()
    other = {**body, "answer": "tie"}
    refused = client.post(f"{job.url}/judgments", headers=job.headers, json=other)
    assert refused.status_code == 409
    assert refused.json()["problem"]["code"] == "stale_form"
    assert refused.json()["question"] == after["question"]
    assert refused.json()["position"] == 1
    assert _count(sessions) == 1


def test_an_answer_about_another_pair_or_from_the_future_is_refused(
    client: httpx.Client, job: Job, sessions: Sessions
) -> None:
    body = answer_to(client.get(job.url, headers=job.headers).json())
    turned = {**body, "left": body["right"], "right": body["left"]}
    early = {**body, "position": 5}
    for wrong, code in ((turned, "out_of_turn"), (early, "stale_form")):
        refused = client.post(f"{job.url}/judgments", headers=job.headers, json=wrong)
        assert refused.status_code == 409
        assert refused.json()["problem"]["code"] == code
    assert _count(sessions) == 0


def test_undo_and_redo(client: httpx.Client, job: Job) -> None:
    first = client.get(job.url, headers=job.headers).json()
    second = client.post(f"{job.url}/judgments", headers=job.headers, json=answer_to(first)).json()
    undone = client.post(f"{job.url}/undo", headers=job.headers, json={"position": 1}).json()
    assert undone["question"] == first["question"]
    assert (undone["position"], undone["can_undo"], undone["can_redo"]) == (2, False, True)
    again = client.post(f"{job.url}/undo", headers=job.headers, json={"position": 1})
    assert again.status_code == 200, "the same undo, sent twice"
    redone = client.post(f"{job.url}/redo", headers=job.headers, json={"position": 2}).json()
    assert redone["question"] == second["question"]
    nothing = client.post(f"{job.url}/redo", headers=job.headers, json={"position": 3})
    assert nothing.status_code == 409
    assert nothing.json()["problem"]["code"] == "nothing_to_redo"


@each_case(
    ("change", "field"),
    [
        ({"answer": None}, "answer"),
        ({"position": -1}, "position"),
        ({"position": "first"}, "position"),
        ({"active_ms": -5}, "active_ms"),
        ({"leaft": "x"}, "leaft"),
        ({"note": "x" * 10_001}, "note"),
    ],
)
def test_a_wrong_field_is_named(
    client: httpx.Client, job: Job, change: dict[str, object], field: str
) -> None:
    body = {**answer_to(client.get(job.url, headers=job.headers).json()), **change}
    refused = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    assert field in refused.json()["detail"]


def test_an_unknown_answer_is_refused_by_name(client: httpx.Client, job: Job) -> None:
    body = {**answer_to(client.get(job.url, headers=job.headers).json()), "answer": "better"}
    refused = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    assert refused.status_code == 422
    assert "better" in refused.json()["detail"]
    assert "left_bad" in refused.json()["detail"]


def test_work_of_others_is_not_there(client: httpx.Client, job: Job, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        stranger = make_job(session)
    body = answer_to(client.get(job.url, headers=job.headers).json())
    assert client.get(job.url, headers=stranger.headers).status_code == 404
    stolen = client.post(f"{job.url}/judgments", headers=stranger.headers, json=body)
    assert stolen.status_code == 404
    assert _count(sessions) == 0


def test_grades_through_the_api(client: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        job = make_job(session, documents=4, tool=Tool.GRADES)
    state = client.get(job.url, headers=job.headers).json()
    assert state["answers"] == ["bad", "fair", "good", "excellent", "perfect", "unjudgeable"]
    given = {}
    for grade in ("good", "bad", "unjudgeable", "perfect"):
        document = state["question"]["document"]["id"]
        given[document] = grade
        body = {"position": state["position"], "document": document, "answer": grade}
        reply = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
        assert reply.status_code == 200, reply.text
        state = reply.json()
    assert state["result"] == {"grades": given}


def test_racing_answers_to_one_question_leave_one_entry(
    app: FastAPI, job: Job, sessions: Sessions
) -> None:
    """Send two different answers many times: one is recorded, the other refused."""
    with open_client(app) as client:
        body = answer_to(client.get(job.url, headers=job.headers).json())
        bodies = [{**body, "answer": "left"}, {**body, "answer": "right"}] * 10

        def send(each: dict[str, object]) -> httpx.Response:
            return client.post(f"{job.url}/judgments", headers=job.headers, json=each)

        with ThreadPoolExecutor(10) as pool:
            replies = list(pool.map(send, bodies))
    assert sorted({reply.status_code for reply in replies}) == [200, 409]
    assert sum(reply.status_code == 200 for reply in replies) == 10
    assert _count(sessions) == 1


def test_an_entry_that_another_process_wrote_first_is_refused_with_the_state(
    client: httpx.Client, job: Job, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the log grew after the check, the database constraint refuses the answer."""
    body = answer_to(client.get(job.url, headers=job.headers).json())
    first = client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    seen = labeling_queries.log_after
    calls: list[int] = []

    def late(*arguments: Any) -> Any:
        calls.append(1)
        return [] if len(calls) <= 2 else seen(*arguments)

    monkeypatch.setattr(labeling_queries, "log_after", late)
    other = {**body, "answer": "tie"}
    refused = client.post(f"{job.url}/judgments", headers=job.headers, json=other)
    assert refused.status_code == 409
    assert refused.json()["problem"]["code"] == "stale_form"
    assert refused.json()["question"] == first.json()["question"]
    assert refused.json()["active_ms"] == first.json()["active_ms"]
    assert refused.json()["progress"]["answered"] == 1
    assert _count(sessions) == 1


def test_an_answer_asks_little_of_the_database(app: FastAPI, job: Job) -> None:
    """Bound the statements per answer: token, assignment with its last entry, writes.

    Only an answer that claims more time than has passed asks for the clock as well.
    """
    statements: list[str] = []
    engine = app.state.engine
    with open_client(app) as client:
        state = client.get(job.url, headers=job.headers).json()
        for _ in range(9):  # after these, every page has been shown
            reply = client.post(f"{job.url}/judgments", headers=job.headers, json=answer_to(state))
            state = reply.json()
        app.state.late.flush()  # the deferred write of the token's last use
        event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
        body = {**answer_to(state), "active_ms": 0}
        client.post(f"{job.url}/judgments", headers=job.headers, json=body)
    reads = [each for each in statements if each.startswith("SELECT")]
    writes = [each for each in statements if each.startswith(("INSERT", "UPDATE", "WITH"))]
    assert len(reads) == 2
    assert len(writes) == (1 if engine.dialect.name == "postgresql" else 2)


def _count(sessions: Sessions) -> int:
    with sessions.read.begin() as session:
        return session.scalars(select(func.count(JudgmentRow.id))).one()

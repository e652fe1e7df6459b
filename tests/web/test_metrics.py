"""Figures for a monitor: closed without a token, and from the database."""

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy.orm import Session

from tests.clients import open_client
from tests.factories import make_study, queries_of
from tests.judging import answer_to, judge_to_the_end, make_job
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Study
from topkapi.app.db.queries.jobs import LONGEST_LEASE
from topkapi.app.main import create_app
from topkapi.app.services.jobs import store

TOKEN = {"Authorization": "Bearer a token"}


@pytest.fixture
def monitored(app_settings: Settings) -> FastAPI:
    given = app_settings.model_dump() | {"metrics_token": "a token"}
    return create_app(Settings(**given, _env_file=None))


def figures(client: httpx.Client) -> dict[str, float]:
    """Return the figures by their names with labels."""
    answer = client.get("/metrics", headers=TOKEN)
    assert answer.status_code == 200, answer.text
    lines = [line for line in answer.text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_nobody_reads_the_figures_without_the_token(
    client: httpx.Client, monitored: FastAPI
) -> None:
    assert client.get("/metrics", headers=TOKEN).status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404
    with open_client(monitored) as other:
        for headers in ({}, {"Authorization": "Bearer another"}, {"Authorization": "Bearer "}):
            refused = other.get("/metrics", headers=headers)
            assert refused.status_code == 403
            assert "topkapi_" not in refused.text


@pytest.mark.both
def test_the_figures_are_those_of_the_database(sessions: Sessions, monitored: FastAPI) -> None:
    with sessions.write.begin() as session:
        one, two, _ = queries_of(session, make_study(session, slug="tulips", queries=3))
        finished, begun = make_job(session, query=one), make_job(session, query=two)
        make_job(session, query=one)
        _queue(session)
    with open_client(monitored) as client:
        last = judge_to_the_end(client, finished)
        state = client.get(begun.url, headers=begun.headers).json()
        address = f"{begun.url}/judgments"
        reply = client.post(address, headers=begun.headers, json=answer_to(state))
        assert reply.status_code == 200
        with sessions.write.begin() as session:
            assert store.take_job(session, "worker", LONGEST_LEASE) is not None
        found = figures(client)
        missing = client.get("/no/such/address")
        again = figures(client)
    answers = last["position"] + 1
    assert found["topkapi_answers"] == found["topkapi_log_entries_total"] == answers
    assert found["topkapi_active_assessors"] == 2
    states = ("waiting", "in_progress", "finished", "withdrawn")
    assert [found[f'topkapi_sessions{{state="{each}"}}'] for each in states] == [1, 1, 1, 0]
    assert (found["topkapi_jobs_waiting"], found["topkapi_jobs_running"]) == (0, 1)
    assert 0 < found["topkapi_jobs_oldest_lease_seconds"] <= LONGEST_LEASE.total_seconds()
    assert missing.status_code == 404
    unknown = 'topkapi_request_seconds_count{method="GET",path="unknown",status="404"}'
    assert again[unknown] == found.get(unknown, 0) + 1
    judged = '{method="POST",path="/api/v1/assignments/{assignment_id}/judgments",status="200"}'
    assert found[f"topkapi_request_seconds_count{judged}"] >= answers


def _queue(session: Session) -> None:
    store.queue_job(session, session.query(Study).one(), "confidence", {})

"""The models page and the pages of jobs."""

import json

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.exporting import make_judged_study
from tests.factories import make_study, make_user, sign_in
from tests.services.test_job_kinds import labelled_study
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job
from topkapi.app.domain.enums import JobState, Role
from topkapi.app.services.jobs.worker import Worker

HTMX = {"HX-Request": "true"}


@pytest.fixture
def researcher(app: FastAPI, client: httpx.Client, sessions: Sessions) -> httpx.Client:
    with sessions.write.begin() as session:
        user = make_user(session, role=Role.RESEARCHER, name="Rana")
    sign_in(app, client, user)
    return client


def test_a_comparison_is_started_watched_and_read(
    researcher: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        labelled_study(session)
    form = researcher.get("/studies/tulips/models").text
    assert "Lists from pairs, 4 queries" in form
    assert "bm25" in form
    assert "no features of its own" not in form
    choice = {"truth": "topk", "models": ["regression", "ranksvm"], "features": ["bm25", "clicks"]}
    started = researcher.post("/studies/tulips/models", data=choice)
    assert started.status_code == 303
    address = started.headers["location"]
    assert researcher.post("/studies/tulips/models", data=choice).headers["location"] == address
    waiting = researcher.get(address).text
    assert "Waiting for a worker" in waiting
    assert f'hx-get="{address}"' in waiting
    Worker(sessions).run(until_empty=True)
    fragment = researcher.get(address, headers=HTMX).text
    assert "hx-get" not in fragment, "the polling ends"
    assert "<html" not in fragment
    for words in ("Means over 4 folds", "RankSVM", "By query, largest difference", "clicks"):
        assert words in fragment
    model = researcher.get(f"{address}/models/ranksvm.json")
    assert json.loads(model.text)["model"] == "ranksvm"
    lines = researcher.get(f"{address}/runs/ranksvm.txt").text.splitlines()
    assert len(lines) == 4 * 8
    assert lines[0].split()[1::2] == ["Q0", "1", "ranksvm"]
    assert researcher.get(f"{address}/runs/listnet.txt").status_code == 404
    listed = researcher.get("/studies/tulips/models").text
    assert "2 models on lists" in listed
    assert "Rana" in listed


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"truth": "graded", "models": "ranksvm", "features": "bm25"}, "a comparison needs 3"),
        ({"truth": "topk", "features": "bm25"}, "Choose at least one model"),
        ({"truth": "topk", "models": "ranksvm"}, "Choose at least one feature"),
        ({"truth": "moon", "models": "ranksvm", "features": "bm25"}, "Choose lists or grades"),
    ],
)
def test_a_choice_that_cannot_be_computed_is_refused(
    researcher: httpx.Client, sessions: Sessions, choice: dict[str, str], words: str
) -> None:
    with sessions.write.begin() as session:
        labelled_study(session, queries=3)
    refused = researcher.post("/studies/tulips/models", data=choice)
    assert refused.status_code == 422
    assert words in refused.text


def test_what_is_missing_is_said(researcher: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_study(session, slug="tulips")
    assert "Too few queries are finished" in researcher.get("/studies/tulips/models").text
    assert researcher.get("/studies/tulips/jobs/1").status_code == 404


def test_a_job_can_be_stopped(researcher: httpx.Client, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        make_judged_study(session)
        make_study(session, slug="other")
    address = researcher.post("/studies/tulips/confidence").headers["location"]
    other = address.replace("tulips", "other")
    assert researcher.post(f"{other}/stop").status_code == 404
    assert researcher.post(f"{address}/stop").status_code == 303
    assert "The job was stopped" in researcher.get(address).text
    with sessions.read() as session:
        assert session.scalars(select(Job.state)).one() is JobState.STOPPED

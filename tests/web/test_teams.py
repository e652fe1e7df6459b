"""Teams through the API: several people at once, one list."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import delete, select

from tests.factories import Enter, make_assignment, make_study, make_user, queries_of, sign_in
from tests.judging import Job, answer_to, judge_to_the_end, make_job
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, JudgmentRow, PairLease, Study, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.judging.warming import warm

pytestmark = pytest.mark.both


@pytest.fixture(autouse=True)
def _compiled() -> None:
    warm()  # as a server does before its first request


def make_team(sessions: Sessions, size: int, documents: int = 10, **plan: Any) -> list[Job]:
    with sessions.write.begin() as session:
        query = queries_of(session, make_study(session, documents=documents))[0]
        options: dict[str, Any] = {"sorter": "robust", "together": True, "k": 3, **plan}
        return [
            make_job(session, query=query, user=make_user(session), round=number, **options)
            for number in range(size)
        ]


def test_people_who_open_a_query_at_once_are_asked_different_pairs(
    client: httpx.Client, sessions: Sessions
) -> None:
    team = make_team(sessions, 4, budget=40)

    def pair(job: Job) -> frozenset[str]:
        reply = client.get(job.url, headers=job.headers)
        assert reply.status_code == 200, reply.text
        question = reply.json()["question"]
        return frozenset((question["left"]["id"], question["right"]["id"]))

    with ThreadPoolExecutor(4) as pool:
        asked = list(pool.map(pair, team))
    assert len(set(asked)) == 4
    assert [pair(job) for job in team] == asked, "and keep them"


@pytest.mark.thorough
def test_people_at_work_at_once_use_up_one_budget_and_get_one_list(
    client: httpx.Client, sessions: Sessions
) -> None:
    team = make_team(sessions, 3, budget=24)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(partial(judge_to_the_end, client), team))
    with sessions.read.begin() as session:
        answers = session.scalars(select(JudgmentRow)).all()
    assert 24 <= len(answers) <= 26, "with those on their way"
    pairs = {frozenset((row.left_id, row.right_id)) for row in answers}
    assert len(pairs) == len(answers), "nobody was asked what another was"
    ends = [client.get(job.url, headers=job.headers).json()["result"] for job in team]
    assert ends[0]["ranking"] == ends[1]["ranking"] == ends[2]["ranking"]
    assert len(ends[0]["ranking"]) == 3


def test_an_answer_to_another_pair_is_refused_with_the_open_question(
    client: httpx.Client, sessions: Sessions
) -> None:
    first, second = make_team(sessions, 2, budget=20)
    theirs = client.get(first.url, headers=first.headers).json()
    refused = client.post(f"{second.url}/judgments", headers=second.headers, json=answer_to(theirs))
    assert refused.status_code == 409
    mine = refused.json()
    assert mine["state"] == "asking"
    taken = client.post(f"{second.url}/judgments", headers=second.headers, json=answer_to(mine))
    assert taken.status_code == 200, taken.text


def test_who_waits_for_a_team_is_told_so_and_gets_the_pair_when_it_is_free(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    first, second = make_team(sessions, 2, documents=2, k=1, budget=2)
    read = client.get(first.url, headers=first.headers).json()
    assert read["state"] == "asking"
    with sessions.write.begin() as session:
        waits = session.get_one(Assignment, second.assignment_id)
        other = make_assignment(session, user=session.get_one(User, waits.user_id))
        person = session.get_one(User, waits.user_id)
    sign_in(app, client, person)

    def states() -> tuple[list[str], str]:
        found = client.get("/api/v1/assignments", headers=second.headers).json()
        return [each["state"] for each in found], client.get("/queue").text

    def look() -> Any:
        return client.get(second.url, headers=second.headers).json()

    found = look()
    assert (found["state"], found["question"], found["result"]) == ("waits_for_team", None, None)
    listed, queue = states()
    assert listed == ["waits_for_team", "waiting"]
    assert queue.index(f"/assignments/{other.id}") < queue.index(">Waiting for your team<")
    assert "Pairs, team" in queue
    page = client.get(f"/assignments/{second.assignment_id}").text
    assert "Ansa is judging the last open pair." in " ".join(page.split())
    assert f'href="/assignments/{other.id}"' in page[: page.index("Next query")]
    with sessions.write.begin() as session:
        session.get_one(Assignment, other.id).finished_at = now()
    assert "All your work is finished" not in states()[1]
    assert "Next query" not in client.get(f"/assignments/{second.assignment_id}").text
    with sessions.write.begin() as session:
        session.execute(delete(PairLease))
    assert states()[0][0] == "waiting"
    assert look()["state"] == "asking"
    shown = client.get(f"/assignments/{second.assignment_id}/progress").text
    assert 'aria-valuenow="0"' in shown
    client.post(f"{first.url}/judgments", headers=first.headers, json=answer_to(read))
    shown = client.get(f"/assignments/{second.assignment_id}/progress").text
    assert 'aria-valuenow="1"' in shown


@pytest.mark.thorough
def test_the_page_progress_shows_how_members_err(
    client: httpx.Client, sessions: Sessions, enter: Enter
) -> None:
    for job in make_team(sessions, 2, budget=2):
        judge_to_the_end(client, job)
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        study.settings = StudySettings(sorter="robust", together=True)
        slug = study.slug
    enter(role=Role.ADMIN)
    text = client.get(f"/studies/{slug}/progress").text
    assert "In teams: lapses" in " ".join(text.split())
    assert "2 answers" in text

"""The log records what was shown, also after a study is deleted and replaced."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import delete, func, select

from tests.clients import open_client
from tests.factories import make_assignment, make_user, queries_of, sign_in
from tests.judging import Job, answer_to, job_of, make_job
from tests.ranked import make_ranked_study
from tests.studies import small_study
from topkapi.app.config import Settings
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Document, JudgmentRow, TimerEvent
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.assignment.rotation import AssignmentSpec
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.lists.plan import hidden_name
from topkapi.app.domain.session import SubmittedAnswer
from topkapi.app.domain.sessions import SESSIONS
from topkapi.app.main import create_app
from topkapi.app.services.accounts import tokens
from topkapi.app.services.assignments import manual_assignment
from topkapi.app.services.assignments.rotation import assign
from topkapi.app.services.importing import import_study, open_source
from topkapi.app.services.studies import lifecycle

pytestmark = pytest.mark.both

EMAIL = "ansa@example.org"


def import_and_assign(sessions: Sessions, folder: Path, documents: int, token: str) -> Job:
    small_study(folder, queries=1, documents=documents)
    with sessions.write.begin() as session, open_source(folder) as source:
        import_study(session, source)
        study = required_study(session, "small")
        made = manual_assignment.assign_one(
            session, study, email=EMAIL, query="q0", tool=Tool.PAIRS, round_number=1
        )
        return Job(made.id, token)


def delete_study(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = required_study(session, "small")
        lifecycle.archive(session, study)
        lifecycle.delete_study(session, study, confirm="small")


def shown(state: dict[str, Any]) -> tuple[str, str]:
    return state["question"]["left"]["id"], state["question"]["right"]["id"]


def logged(sessions: Sessions, job: Job) -> list[tuple[str, str]]:
    """Return the names of the pages in the log, as the database has them."""
    with sessions.read.begin() as session:
        names = {row.id: row.external_id for row in session.scalars(select(Document))}
        rows = session.scalars(
            select(JudgmentRow)
            .where(JudgmentRow.assignment_id == job.assignment_id)
            .order_by(JudgmentRow.position)
        )
        return [(names[row.left_id or 0], names[row.right_id or 0]) for row in rows]


def judge(client: httpx.Client, job: Job) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Judge to the end; return the pairs that were shown, and the last state."""
    pairs = []
    state = client.get(job.url, headers=job.headers).json()
    while state["state"] == "asking":
        pairs.append(shown(state))
        reply = client.post(f"{job.url}/judgments", headers=job.headers, json=answer_to(state))
        assert reply.status_code == 200, reply.text
        state = reply.json()
    return pairs, state


@pytest.mark.thorough
@pytest.mark.parametrize("documents", [4, 5, 6])
def test_a_study_that_replaces_a_deleted_one_is_judged_about_its_own_pages(
    app: FastAPI, app_settings: Settings, sessions: Sessions, tmp_path: Path, documents: int
) -> None:
    with sessions.write.begin() as session:
        user = make_user(session, email=EMAIL)
        _, token = tokens.issue_token(session, user, "test")
    with open_client(app) as client:
        first = import_and_assign(sessions, tmp_path / "v1", 5, token)
        opened = client.get(first.url, headers=first.headers).json()
        assert opened["state"] == "asking"
        delete_study(sessions)
        second = import_and_assign(sessions, tmp_path / "v2", documents, token)
        pairs, last = judge(client, second)
        gone = client.get(first.url, headers=first.headers)
    assert logged(sessions, second) == pairs
    assert second.assignment_id != first.assignment_id
    assert gone.status_code == 404
    with open_client(create_app(app_settings)) as fresh:
        assert fresh.get(second.url, headers=second.headers).json() == last


def replace_assignment(sessions: Sessions, job: Job, **plan: Any) -> None:
    """Replace an assignment by another with the same id."""
    with sessions.write.begin() as session:
        old = session.get_one(Assignment, job.assignment_id)
        user, query = old.user_id, old.query_id
        session.execute(delete(TimerEvent).where(TimerEvent.assignment_id == job.assignment_id))
        session.execute(delete(Assignment).where(Assignment.id == job.assignment_id))
        session.expunge(old)
        new = Assignment(id=job.assignment_id, user_id=user, query_id=query, tool=Tool.PAIRS)
        new.plan = {**old.plan, **plan}
        session.add(new)


@pytest.mark.thorough
@pytest.mark.parametrize("plan", [{"seed": "another"}, {"k": 1}, {}])
def test_a_live_session_is_not_taken_for_another_of_the_same_number(
    app: FastAPI,
    client: httpx.Client,
    app_settings: Settings,
    sessions: Sessions,
    plan: dict[str, Any],
) -> None:
    with sessions.write.begin() as session:
        job = make_job(session)
    client.get(job.url, headers=job.headers)
    app.state.late.flush()
    replace_assignment(sessions, job, **plan)
    here = client.get(job.url, headers=job.headers).json()
    with open_client(create_app(app_settings)) as fresh:
        assert fresh.get(job.url, headers=job.headers).json() == here


def judgments(sessions: Sessions) -> int:
    with sessions.read.begin() as session:
        return session.scalar(select(func.count(JudgmentRow.id))) or 0


@pytest.mark.parametrize("tool", list(Tool))
def test_an_answer_about_what_is_not_asked_is_refused_with_the_open_question(
    app: FastAPI, client: httpx.Client, sessions: Sessions, tool: Tool
) -> None:
    with sessions.write.begin() as session:
        study = make_ranked_study(session)
        user, query = make_user(session), queries_of(session, study)[0]
        assignment = assign(session, study, [AssignmentSpec(user.id, query.id, tool, 0)])[0]
        job = job_of(session, assignment)
        names = [f"{query.external_id}-d{number}" for number in range(8)]
        seed = assignment.plan["seed"]
    state = client.get(job.url, headers=job.headers).json()
    asked = {side: page["id"] for side, page in state["question"].items()}
    if tool is Tool.LISTS:
        names = [hidden_name(seed, f"system-{number}") for number in range(4)]
    wrong = [{**asked, side: name} for side in asked for name in [*names, "nothing", ""]]
    wrong += [dict(zip(asked, reversed(asked.values()), strict=True)), {}]
    sign_in(app, client, user)
    for body in (each for each in wrong if each != asked):
        sent = {"position": 0, "answer": state["answers"][0], **body}
        reply = client.post(f"{job.url}/judgments", headers=job.headers, json=sent)
        assert reply.status_code == 409, body
        assert reply.json()["question"] == state["question"]
        page = client.post(f"/assignments/{job.assignment_id}/judgments", data=sent)
        assert page.status_code == 409, body
    assert judgments(sessions) == 0
    right = {"position": 0, "answer": state["answers"][0], **asked}
    reply = client.post(f"{job.url}/judgments", headers=job.headers, json=right)
    assert reply.status_code == 200
    assert judgments(sessions) == 1


def test_the_judgment_is_made_of_the_submission(sessions: Sessions) -> None:
    """The judgment holds the pages of the submission, not those of the open question.

    Otherwise an answer about other pages would be recorded for the pages of the question.
    """
    with sessions.write.begin() as session:
        plan = make_assignment(session).plan
    opened = SESSIONS[Tool.PAIRS].open(plan)
    ids = {f"page {number}": number for number in plan["order"]}
    for left, right in ((1, 2), (2, 1), (5, 3)):
        answer = SubmittedAnswer("left", left=f"page {left}", right=f"page {right}")
        made = opened.judgment(answer, ids)
        assert (made.left, made.right) == (left, right)

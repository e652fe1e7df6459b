"""Flags: an assessor marks a question, the log stays as it is, an administrator handles it."""

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.factories import Enter, make_user, sign_in, token_headers
from tests.judging import Job, answer_to
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, AuditEvent, Flag, JudgmentRow, Study, User
from topkapi.app.domain.enums import Role

HTMX = {"HX-Request": "true"}


def flags_in(sessions: Sessions) -> list[Flag]:
    with sessions.read() as session:
        return list(session.scalars(select(Flag).order_by(Flag.id)))


def test_a_flag_is_stored_with_its_question_and_changes_no_log(
    client: httpx.Client, job: Job, sessions: Sessions
) -> None:
    state = client.get(job.url, headers=job.headers).json()
    pages = [state["question"][side]["id"] for side in ("left", "right")]
    sent = {"position": 0, "left": pages[0], "right": pages[1], "reason": " The left is empty. "}
    page = f"/assignments/{job.assignment_id}/flags"
    reply = client.post(page, data=sent, headers=HTMX)
    assert "Flagged." in reply.text
    flag = flags_in(sessions)[0]
    assert (flag.position, flag.shown, flag.reason) == (0, pages, "The left is empty.")
    assert client.get(job.url, headers=job.headers).json() == state
    with sessions.read() as session:
        assert session.scalars(select(JudgmentRow)).all() == []
        assert session.scalars(select(Assignment.last_entry_at)).all() == [None]
    again = client.post(page, data={**sent, "reason": "Both are empty."}, headers=HTMX)
    assert "Flagged." in again.text
    assert [each.reason for each in flags_in(sessions)] == ["Both are empty."]


def test_what_cannot_be_a_flag_is_refused(
    client: httpx.Client, job: Job, sessions: Sessions, enter: Enter
) -> None:
    page = f"/assignments/{job.assignment_id}/flags"
    assert "Give a reason" in client.post(page, data={"reason": " "}, headers=HTMX).text
    wrong = {"reason": "Broken.", "position": 0, "left": "elsewhere"}
    assert "not part of this query" in client.post(page, data=wrong, headers=HTMX).text
    assert flags_in(sessions) == []
    enter()
    assert client.post(page, data={"reason": "Mine?"}).status_code == 404


def test_without_scripts_the_open_question_is_flagged(
    client: httpx.Client, job: Job, sessions: Sessions
) -> None:
    state = client.get(job.url, headers=job.headers).json()
    client.post(f"{job.url}/judgments", headers=job.headers, json=answer_to(state))
    page = f"/assignments/{job.assignment_id}"
    reply = client.post(f"{page}/flags", data={"reason": "Two languages."})
    assert (reply.status_code, reply.headers["location"]) == (303, page)
    flag = flags_in(sessions)[0]
    assert (flag.position, len(flag.shown)) == (1, 2)


@pytest.mark.thorough
def test_an_administrator_handles_flags_on_the_progress_page(
    app: FastAPI, client: httpx.Client, job: Job, sessions: Sessions, enter: Enter
) -> None:
    client.post(f"/assignments/{job.assignment_id}/flags", data={"reason": "A broken page."})
    with sessions.read() as session:
        slug = session.scalars(select(Study.slug)).one()
    progress = f"/studies/{slug}/progress"
    enter(role=Role.RESEARCHER)
    page = client.get(progress).text
    assert "A broken page." in page
    assert "Mark as handled" not in page
    admin = enter(role=Role.ADMIN, name="Maren Oduya")
    page = client.get(progress).text
    assert "1 open flag" in page
    assert "Mark as handled" in page
    number = flags_in(sessions)[0].id
    answer = {"reply": "Thank you, it is repaired."}
    reply = client.post(f"/studies/{slug}/flags/{number}/handle", data=answer)
    assert reply.headers["location"] == f"{progress}#flags"
    page = client.get(progress).text
    assert "0 open flags" in page
    assert "Maren Oduya" in page
    assert "Thank you, it is repaired." in page
    with sessions.read() as session:
        author = session.scalars(select(User).join(Assignment)).one()
    sign_in(app, client, author)
    own = client.get(f"/assignments/{job.assignment_id}/history").text
    assert "Thank you, it is repaired." in own
    sign_in(app, client, admin)
    client.post(f"/studies/{slug}/flags/{number}/reopen")
    assert "1 open flag" in client.get(progress).text
    with sessions.read() as session:
        acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert acts[-3:] == ["flag.add", "flag.handle", "flag.reopen"]
    assert client.post(f"/studies/{slug}/flags/{number + 1}/handle").status_code == 404


def test_flags_through_the_api(client: httpx.Client, job: Job, sessions: Sessions) -> None:
    made = client.post(f"{job.url}/flags", headers=job.headers, json={"reason": "Too hard."})
    assert (made.status_code, made.json()["state"]) == (201, "open")
    with sessions.write.begin() as session:
        admin = make_user(session, role=Role.ADMIN)
        headers = token_headers(session, admin)
        slug = session.scalars(select(Study.slug)).one()
    address = f"/api/v1/studies/{slug}/flags"
    number = made.json()["id"]
    answer = {"reply": "Skip it."}
    handled = client.post(f"{address}/{number}/handle", headers=headers, json=answer)
    assert handled.status_code == 204
    listed = client.get(address, headers=headers).json()
    assert [(each["reason"], each["state"]) for each in listed] == [("Too hard.", "handled")]
    assert (listed[0]["handled_by"], listed[0]["reply"]) == (admin.email, "Skip it.")
    assert client.get(f"{address}?state=open", headers=headers).json() == []

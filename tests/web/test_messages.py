"""Texts to invite and remind people, and amounts per assessor."""

import csv
import io
import json
import re
from decimal import Decimal
from html import unescape

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.exporting import make_judged_study
from tests.factories import Enter, sign_in
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Assignment, Invitation, JudgmentRow, Study, User
from topkapi.app.domain.enums import Role
from topkapi.app.services.jobs.store import queue_job
from topkapi.app.services.progress.tables import Rates


@pytest.fixture
def admin(client: httpx.Client, sessions: Sessions, enter: Enter) -> httpx.Client:
    with sessions.write.begin() as session:
        make_judged_study(session)
    enter(role=Role.ADMIN)
    return client


def test_texts_name_study_link_and_what_is_left(admin: httpx.Client, sessions: Sessions) -> None:
    page = admin.get("/studies/tulips/messages")
    ids = re.findall(r'name="people" value="(\d+)"', page.text)
    assert len(ids) > 1
    reply = admin.post("/studies/tulips/messages", data={"people": ids, "kind": "remind"})
    text = unescape(reply.text)
    assert "mailto:?bcc=" in text
    assert "http://localhost:8000/queue" in text
    assert re.search(r"finished \d+ of \d+ assignments in the study", text)
    with sessions.read() as session:
        assert session.scalars(select(Invitation)).all() == []
    invited = admin.post("/studies/tulips/messages", data={"people": ids[:1], "kind": "invite"})
    assert "/invitations/" in invited.text
    with sessions.read() as session:
        assert session.scalars(select(Invitation.user_id)).all() == [int(ids[0])]
    assert admin.post("/studies/tulips/messages", data={"kind": "remind"}).status_code == 422


def test_amounts_follow_the_typed_rates(admin: httpx.Client, sessions: Sessions) -> None:
    path = "/studies/tulips/payments.csv"
    reply = admin.get(path, params={"per_hour": "12,50", "per_query": "0.40"})
    assert reply.status_code == 200
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    with sessions.read() as session:
        statement = (
            select(Assignment.active_ms, Assignment.finished_at)
            .join(User, User.id == Assignment.user_id)
            .where(User.email == rows[0]["assessor"], Assignment.withdrawn_at.is_(None))
        )
        work = session.execute(statement).all()
    done = sum(row.finished_at is not None for row in work)
    rates = Rates(Decimal("12.50"), Decimal("0.40"))
    assert int(rows[0]["finished_queries"]) == done
    assert Decimal(rows[0]["amount"]) == rates.amount(sum(row.active_ms for row in work), done)
    assert admin.get(path, params={"per_hour": ""}).status_code == 200
    for odd in ("-1", "NaN", "x", "1e99", "9" * 400):
        assert admin.get(path, params={"per_hour": odd}).status_code == 422, odd


def test_own_data_is_everything_of_one_person(
    app: FastAPI, admin: httpx.Client, sessions: Sessions
) -> None:
    with sessions.read() as session:
        user = session.scalars(
            select(User).join(Assignment, Assignment.user_id == User.id).order_by(User.id)
        ).first()
        assert user is not None
        mine = select(Assignment.id).where(Assignment.user_id == user.id)
        entries = session.scalars(
            select(JudgmentRow.id).where(JudgmentRow.assignment_id.in_(mine))
        ).all()
        count = len(session.scalars(mine).all())
    with sessions.write.begin() as session:
        study = session.scalars(select(Study)).one()
        queue_job(session, study, "confidence", {}, actor_id=user.id)
        queue_job(session, study, "models", {"models": ["ranksvm"]})
    sign_in(app, admin, user)
    reply = admin.get("/me/data")
    data = json.loads(reply.text)
    assert "attachment" in reply.headers["content-disposition"]
    assert data["account"]["email"] == user.email
    assert len(data["assignments"]) == count
    assert sum(len(work["judgments"]) for work in data["assignments"]) == len(entries) > 0
    assert [(job["study"], job["kind"]) for job in data["jobs"]] == [("tulips", "confidence")]
    assert "password_hash" not in reply.text
    assert {"timer_events", "flags", "state", "query"} <= data["assignments"][0].keys()

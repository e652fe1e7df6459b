"""Sign-ins, refused sign-ins and downloads in the audit log."""

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import select

from tests.exporting import make_judged_study
from tests.factories import PASSWORD, make_user, sign_in, token_headers
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import AuditEvent
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import WrongCredentials
from topkapi.app.services.accounts.sign_in import Visitor

HERE = Visitor("127.0.0.1", on_loopback=True)


@pytest.mark.thorough
def test_sign_ins_and_downloads_are_recorded(
    app: FastAPI, client: httpx.Client, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        user = make_user(session, email="maren@x.example", role=Role.ADMIN, password=PASSWORD)
        make_judged_study(session)
        headers = token_headers(session, user)
        known = set(session.scalars(select(AuditEvent.id)))
    for email, password in (
        ("nobody@x.example", "wrong"),
        (user.email, "wrong"),
        (user.email, PASSWORD),
    ):
        try:
            app.state.authenticator.sign_in(email, password, HERE)
        except WrongCredentials:
            assert password == "wrong"
    sign_in(app, client, user)
    for path in ("exports/topk.jsonl", "report.zip", "payments.csv", "tables/queries.csv"):
        assert client.get(f"/studies/tulips/{path}").status_code == 200
    assert client.get("/api/v1/studies/tulips/exports/qrels", headers=headers).status_code == 200
    assert app.state.late.flush()
    with sessions.read() as session:
        events = session.scalars(select(AuditEvent).order_by(AuditEvent.id)).all()
    found = [
        (event.user_id, event.action, event.subject, event.detail)
        for event in events
        if event.id not in known
    ]
    assert found == [
        (None, "user.refuse", "maren@x.example", {}),
        (user.id, "user.sign_in", "maren@x.example", {}),
        *(
            (user.id, "study.download", "tulips", {"file": name})
            for name in ("topk.jsonl", "report.zip", "payments.csv", "queries.csv", "qrels")
        ),
    ]

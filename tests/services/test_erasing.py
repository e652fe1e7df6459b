"""Erasing a person: what is replaced, what is deleted, and what stays."""

import json

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from tests.factories import make_assignment, make_study, make_user
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import (
    Assignment,
    AuditEvent,
    CrowdWorker,
    Flag,
    JudgmentRow,
    SignInAttempt,
    User,
)
from topkapi.app.domain.crowds import Platform
from topkapi.app.domain.errors import Conflict
from topkapi.app.domain.log import EntryKind
from topkapi.app.services import audit
from topkapi.app.services.accounts import tokens
from topkapi.app.services.accounts.erasing import erase_user, truncate_log
from topkapi.app.services.accounts.users import enable_user, rename

pytestmark = pytest.mark.both


def told(session: Session) -> list[tuple[str, dict[str, object]]]:
    session.flush()
    events = session.scalars(select(AuditEvent).order_by(AuditEvent.id))
    return [(event.subject, event.detail) for event in events]


def test_only_the_persons_own_values_are_replaced(session: Session) -> None:
    user = make_user(session, email="ansa@lehto.example", name="Ansa Lehto")
    tokens.revoke_token(session, tokens.issue_token(session, user, "Ansa's laptop")[0].id)
    tokens.issue_token(session, make_user(session, name="Bo"), "notebook")
    for name in ("Ansa Virta", "e"):
        rename(session, user, name)
    audit.record(session, None, "study.archive", "everyday-questions", reason="the end")
    audit.record(
        session,
        None,
        "study.assign",
        "roses",
        assessors=["ansa@lehto.example 3", "x.ansa@lehto.example 2"],
        work=["q1 pairs round 1: ansa@lehto.example"],
    )
    before = told(session)
    new = erase_user(session, user)
    with pytest.raises(Conflict, match="nobody can use the account again"):
        enable_user(session, user)
    after = told(session)[: len(before)]
    shown = json.dumps(after)
    for gone in ("Ansa", "Lehto", "Virta", "laptop", '"ansa@lehto.example', ": ansa@lehto.example"):
        assert gone not in shown
    assert dict(after)["roses"] == {
        "assessors": [f"{new} 3", "x.ansa@lehto.example 2"],
        "work": [f"q1 pairs round 1: {new}"],
    }
    assert ("everyday-questions", {"reason": "the end"}) in after
    assert "notebook" in shown


def test_attempts_with_a_worker_id_are_deleted(session: Session) -> None:
    user, study = make_user(session), make_study(session)
    for number, worker in enumerate(("5f3b", "other")):
        person = user if number == 0 else make_user(session)
        session.add(
            CrowdWorker(
                user_id=person.id,
                study_id=study.id,
                platform=Platform.PROLIFIC,
                worker_id=worker,
                consented_at=now(),
            )
        )
        session.add(SignInAttempt(email=f"enter:1:{worker}", address="198.51.100.7", at=now()))
    session.flush()
    erase_user(session, user)
    assert session.scalars(select(SignInAttempt.email)).all() == ["enter:1:other"]


def annotated(session: Session, user: User) -> Assignment:
    row = make_assignment(session, user=user)
    session.add(
        JudgmentRow(
            assignment_id=row.id,
            position=0,
            entry=EntryKind.ANSWER,
            answer="left",
            note="I am Ansa",
            active_ms=0,
            wall_ms=0,
        )
    )
    session.add(Flag(assignment_id=row.id, position=0, shown=[], reason="My cousin wrote this"))
    session.flush()
    return row


def test_notes_and_flags_are_blanked_on_request(session: Session) -> None:
    users = [make_user(session) for _ in range(2)]
    rows = [annotated(session, user) for user in users]
    erase_user(session, users[0])
    assert session.scalars(select(JudgmentRow.note)).all() == ["I am Ansa"] * 2
    erase_user(session, users[1], notes=True)
    notes = dict(session.execute(select(JudgmentRow.assignment_id, JudgmentRow.note)).all())
    assert notes == {rows[0].id: "I am Ansa", rows[1].id: None}
    reasons = dict(session.execute(select(Flag.assignment_id, Flag.reason)).all())
    assert reasons == {rows[0].id: "My cousin wrote this", rows[1].id: "(erased)"}


def test_nothing_of_the_person_stays_in_the_files(sessions: Sessions, database_url: str) -> None:
    with sessions.write.begin() as session:
        user = make_user(session, email="ansa@lehto.example", name="Ansa Lehto-Virtanen")
    with sessions.write.begin() as session:
        erase_user(session, session.get_one(User, user.id))
    truncate_log(sessions)
    if database_url.startswith("sqlite"):
        with sessions.read() as session:
            session.execute(text("SELECT 1"))
        path = database_url.removeprefix("sqlite:///")
        for name in (path, f"{path}-wal"):
            with open(name, "rb") as file:
                assert b"Lehto-Virtanen" not in file.read()

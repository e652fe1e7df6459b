"""`topkapi study settings`, `withdraw`, `reassign`, `void`, `copy`, `delete`; `users erase`."""

import json
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.commands import Command
from tests.databases import transaction_on
from tests.exporting import make_judged_study
from tests.factories import BOTH, make_study, make_user
from topkapi.app.db.models import Assignment, AuditEvent, Study, User
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Role
from topkapi.app.services.jobs.store import jobs_of_study, queue_job

pytestmark = pytest.mark.usefixtures("folder_of_commands")
EMAILS = [f"p{number}@x.example" for number in range(4)]


@pytest.fixture(autouse=True)
def _study(database_url: str) -> None:
    with transaction_on(database_url) as session:
        make_study(session, slug="roses", queries=4, k=2, tools=BOTH)
        for email in EMAILS:
            make_user(session, email=email, name=f"Person {email[1]}")
        make_judged_study(session)


def test_access_is_given_taken_and_listed(topkapi: Command, database_url: str) -> None:
    with transaction_on(database_url) as session:
        make_user(session, role=Role.RESEARCHER, email="rosa@x.example", name="Rosa", reads=False)
    access = ("study", "access", "roses")
    rosa = {"email": "rosa@x.example", "name": "Rosa"}
    assert not topkapi.told(*access)
    assert topkapi.told(*access, "--give", rosa["email"]) == [rosa]
    assert "is not a researcher" in topkapi.refused(*access, "--give", EMAILS[0])
    listed = topkapi(*access)[1].splitlines()
    assert [line.split() for line in listed] == [["e-mail", "name"], ["rosa@x.example", "Rosa"]]
    assert not topkapi.told(*access, "--take", rosa["email"])


def test_settings_are_shown_and_changed(topkapi: Command) -> None:
    assert topkapi.told("study", "settings", "roses")["k"] == 2
    seen = topkapi.told("study", "settings", "roses", "--set", "k=3", "--set", "name=Wild roses")
    assert (seen["k"], seen["name"]) == (3, "Wild roses")
    assert "There is no setting 'kk'" in topkapi.refused(
        "study", "settings", "roses", "--set", "kk=1"
    )
    assert "NAME=VALUE" in topkapi.refused("study", "settings", "roses", "--set", "k")


@pytest.mark.thorough
def test_work_is_withdrawn_and_reassigned(topkapi: Command) -> None:
    to = [part for email in EMAILS for part in ("--to", email)]
    made = topkapi.told("study", "assign", "roses", *to, "--rounds", "1")["work"]
    mine = [row for row in made if row["assessor"] == EMAILS[0]]
    one = mine[0]["query"]
    found = topkapi.told("study", "withdraw", "roses", "--from", EMAILS[0], "--query", one)
    assert [(row["query"], row["round"], row["round_number"]) for row in found["work"]] == [
        (one, 0, 1)
    ]
    found = topkapi.told("study", "reassign", "roses", "--from", EMAILS[0])
    assert len(found["work"]) == len(mine) - 1
    assert EMAILS[0] not in {row["assessor"] for row in found["work"]}
    assert f"{EMAILS[0]} has no open work in 'roses'" in topkapi.refused(
        "study", "withdraw", "roses", "--from", EMAILS[0]
    )
    taker = found["work"][0]["assessor"]
    withdrawn = topkapi.done("study", "withdraw", "roses", "--from", taker)
    head, *lines = withdrawn.splitlines()
    assert head == f"roses: {len(lines)} assignments withdrawn"
    assert all(line.split()[0] == taker for line in lines)


def test_finished_work_is_voided_and_restored(topkapi: Command, database_url: str) -> None:
    with transaction_on(database_url) as session:
        row = session.scalars(select(Assignment).where(Assignment.finished_at.is_not(None))).first()
        assert row is not None
        email = session.get_one(User, row.user_id).email
        for other in session.scalars(select(Assignment).where(Assignment.id != row.id)):
            other.round = other.id
    void = ("study", "void", "tulips", "--from", email)
    assert "Enter a reason" in topkapi.refused(*void)
    count = len(topkapi.told(*void, "--reason", "one side")["work"])
    assert count >= 1
    assert len(topkapi.told(*void, "--undo")["work"]) == count


@pytest.mark.thorough
def test_a_study_is_copied_and_deleted(topkapi: Command, tmp_path: Path, database_url: str) -> None:
    delete = ("study", "delete", "tulips", "--confirm", "tulips")
    assert "Archive the study first" in topkapi.refused(*delete)
    topkapi.told("study", "archive", "tulips")
    assert "Download a full copy first" in topkapi.refused(*delete)
    copy = topkapi.told("study", "copy", "tulips", "--out", "tulips.zip")
    assert (tmp_path / "tulips.zip").stat().st_size == copy["bytes"]
    topkapi.told(*delete)
    with transaction_on(database_url) as session:
        assert session.scalars(select(Study.slug)).all() == ["roses"]


def test_a_person_is_erased_everywhere(topkapi: Command, database_url: str) -> None:
    topkapi.told("study", "assign", "roses", "--to", EMAILS[0], "--to", EMAILS[1])
    with transaction_on(database_url) as session:
        study = required_study(session, "roses")
        starter = session.scalars(select(User).where(User.email == EMAILS[0])).one()
        queue_job(session, study, "confidence", {}, actor_id=starter.id)
    erased = topkapi.told("users", "erase", EMAILS[0], "--yes")
    assert str(erased["email"]).endswith("@erased.invalid")
    with transaction_on(database_url) as session:
        events = session.scalars(select(AuditEvent)).all()
        text = json.dumps([[event.subject, event.detail] for event in events])
        assert EMAILS[0] not in text
        assert str(erased["email"]) in text
        user = session.scalars(select(User).where(User.email == erased["email"])).one()
        assert (user.password_hash, user.disabled_at is None) == (None, False)
        work = session.scalars(select(Assignment).where(Assignment.user_id == user.id)).all()
        assert len(work) > 0
        assert [job.by for job in jobs_of_study(session, study.id, limit=9)] == [user.name]
    assert "is erased already" in topkapi.refused("users", "erase", str(erased["email"]), "--yes")

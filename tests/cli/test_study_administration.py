"""`topkapi study settings`, `withdraw`, `reassign`, `void`, `copy`, `delete`; `users erase`."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.commands import run_command
from tests.exporting import make_judged_study
from tests.factories import make_study, make_user
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Assignment, AuditEvent, Study, User
from topkapi.app.db.queries.jobs import jobs_of_study
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.domain.enums import Role, Tool
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.jobs.store import queue_job

EMAILS = [f"p{number}@x.example" for number in range(4)]


@pytest.fixture(autouse=True)
def _study(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    monkeypatch.chdir(tmp_path)
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        study = make_study(session, slug="roses", queries=4)
        study.settings = StudySettings(k=2, tools=(Tool.PAIRS, Tool.GRADES))
        for email in EMAILS:
            make_user(session, email=email, name=f"Person {email[1]}")
        make_judged_study(session)
    engine.dispose()


def done(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    code, out, err = run_command(capsys, [*arguments, "--json"])
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    code, out, err = run_command(capsys, [*arguments])
    assert (code, out) == (1, "")
    return err


def test_access_is_given_taken_and_listed(
    capsys: pytest.CaptureFixture[str], database_url: str
) -> None:
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        make_user(session, role=Role.RESEARCHER, email="rosa@x.example", name="Rosa", reads=False)
    engine.dispose()
    access = ("study", "access", "roses")
    rosa = {"email": "rosa@x.example", "name": "Rosa"}
    assert not done(capsys, *access)
    assert list[Any](done(capsys, *access, "--give", rosa["email"])) == [rosa]
    assert "is not a researcher" in refused(capsys, *access, "--give", EMAILS[0])
    listed = run_command(capsys, [*access])[1].splitlines()
    assert [line.split() for line in listed] == [["e-mail", "name"], ["rosa@x.example", "Rosa"]]
    assert not done(capsys, *access, "--take", rosa["email"])


def test_settings_are_shown_and_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert done(capsys, "study", "settings", "roses")["k"] == 2
    seen = done(capsys, "study", "settings", "roses", "--set", "k=3", "--set", "name=Wild roses")
    assert (seen["k"], seen["name"]) == (3, "Wild roses")
    assert "There is no setting 'kk'" in refused(
        capsys, "study", "settings", "roses", "--set", "kk=1"
    )
    assert "NAME=VALUE" in refused(capsys, "study", "settings", "roses", "--set", "k")


@pytest.mark.thorough
def test_work_is_withdrawn_and_reassigned(capsys: pytest.CaptureFixture[str]) -> None:
    to = [part for email in EMAILS for part in ("--to", email)]
    made = done(capsys, "study", "assign", "roses", *to, "--rounds", "1")["work"]
    mine = [row for row in made if row["assessor"] == EMAILS[0]]
    one = mine[0]["query"]
    found = done(capsys, "study", "withdraw", "roses", "--from", EMAILS[0], "--query", one)
    assert [(row["query"], row["round"], row["round_number"]) for row in found["work"]] == [
        (one, 0, 1)
    ]
    found = done(capsys, "study", "reassign", "roses", "--from", EMAILS[0])
    assert len(found["work"]) == len(mine) - 1
    assert EMAILS[0] not in {row["assessor"] for row in found["work"]}
    assert f"{EMAILS[0]} has no open work in 'roses'" in refused(
        capsys, "study", "withdraw", "roses", "--from", EMAILS[0]
    )
    taker = found["work"][0]["assessor"]
    code, out, _ = run_command(capsys, ["study", "withdraw", "roses", "--from", taker])
    head, *lines = out.splitlines()
    assert (code, head) == (0, f"roses: {len(lines)} assignments withdrawn")
    assert all(line.split()[0] == taker for line in lines)


def test_finished_work_is_voided_and_restored(
    capsys: pytest.CaptureFixture[str], database_url: str
) -> None:
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        row = session.scalars(select(Assignment).where(Assignment.finished_at.is_not(None))).first()
        assert row is not None
        email = session.get_one(User, row.user_id).email
        for other in session.scalars(select(Assignment).where(Assignment.id != row.id)):
            other.round = other.id
    engine.dispose()
    void = ("study", "void", "tulips", "--from", email)
    assert "Enter a reason" in refused(capsys, *void)
    count = len(done(capsys, *void, "--reason", "one side")["work"])
    assert count >= 1
    assert len(done(capsys, *void, "--undo")["work"]) == count


@pytest.mark.thorough
def test_a_study_is_copied_and_deleted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, database_url: str
) -> None:
    delete = ("study", "delete", "tulips", "--confirm", "tulips")
    assert "Archive the study first" in refused(capsys, *delete)
    done(capsys, "study", "archive", "tulips")
    assert "Download a full copy first" in refused(capsys, *delete)
    copy = done(capsys, "study", "copy", "tulips", "--out", "tulips.zip")
    assert (tmp_path / "tulips.zip").stat().st_size == copy["bytes"]
    done(capsys, *delete)
    engine = make_engine(database_url)
    with make_sessions(engine).read() as session:
        assert session.scalars(select(Study.slug)).all() == ["roses"]
    engine.dispose()


def test_a_person_is_erased_everywhere(
    capsys: pytest.CaptureFixture[str], database_url: str
) -> None:
    done(capsys, "study", "assign", "roses", "--to", EMAILS[0], "--to", EMAILS[1])
    engine = make_engine(database_url)
    with make_sessions(engine).write.begin() as session:
        study = required_study(session, "roses")
        starter = session.scalars(select(User).where(User.email == EMAILS[0])).one()
        queue_job(session, study, "confidence", {}, actor_id=starter.id)
    engine.dispose()
    erased = done(capsys, "users", "erase", EMAILS[0], "--yes")
    assert str(erased["email"]).endswith("@erased.invalid")
    engine = make_engine(database_url)
    with make_sessions(engine).read() as session:
        events = session.scalars(select(AuditEvent)).all()
        text = json.dumps([[event.subject, event.detail] for event in events])
        assert EMAILS[0] not in text
        assert str(erased["email"]) in text
        user = session.scalars(select(User).where(User.email == erased["email"])).one()
        assert (user.password_hash, user.disabled_at is None) == (None, False)
        work = session.scalars(select(Assignment).where(Assignment.user_id == user.id)).all()
        assert len(work) > 0
        assert [name for _, name in jobs_of_study(session, study.id, limit=9)] == [user.name]
    engine.dispose()
    assert "is erased already" in refused(capsys, "users", "erase", str(erased["email"]), "--yes")

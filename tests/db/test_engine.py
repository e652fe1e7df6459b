import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import Engine, event, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, StatementError
from sqlalchemy.orm import Session

from app.db.engine import Sessions, make_engine, normal_url
from app.db.models import Assignment, Content, JudgmentRow, Study, User
from app.domain.log import EntryKind
from app.domain.words import Role
from tests.factories import make_assignment, make_study, make_user


@pytest.mark.parametrize(
    ("given", "driver"),
    [
        ("sqlite:///a.db", "sqlite+pysqlite"),
        ("postgresql://u:p@host/db", "postgresql+psycopg"),
        ("postgres://u:p@host/db", "postgresql+psycopg"),
        ("postgresql+psycopg://u:p@host/db", "postgresql+psycopg"),
    ],
)
def test_addresses_get_their_driver(given: str, driver: str) -> None:
    assert normal_url(given).drivername == driver


@pytest.mark.parametrize("wrong", ["mysql://host/db", "topkapi.db", "", "sqlite"])
def test_other_addresses_are_refused_in_words(wrong: str) -> None:
    with pytest.raises(ValueError, match="sqlite"):
        normal_url(wrong)


def test_a_database_in_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="memory"):
        make_engine("sqlite://")


def test_a_reading_session_cannot_write(sessions: Sessions) -> None:
    with sessions.read() as session:
        session.add(User(email="a@example.org", name="A", role=Role.ADMIN))
        with pytest.raises(DBAPIError):
            session.flush()
    with sessions.write.begin() as session:  # the connection goes back fit for writing
        make_user(session)


def test_readers_do_not_wait_for_a_writer(sessions: Sessions) -> None:
    with sessions.write.begin() as writer:
        make_user(writer)
        with sessions.read() as reader:
            assert reader.scalars(select(User)).all() == []


def test_writers_take_turns(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study_id = make_study(session).id

    def raise_by_one() -> None:
        for _ in range(5):
            with sessions.write.begin() as session:
                study = session.get(Study, study_id, with_for_update=True)
                assert study is not None
                study.settings = {"k": study.settings.get("k", 0) + 1}

    threads = [threading.Thread(target=raise_by_one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with sessions.read() as session:
        assert session.scalars(select(Study.settings)).one() == {"k": 40}


def test_only_writing_transactions_of_sqlite_begin_immediately(sqlite_url: str) -> None:
    from app.db.engine import make_sessions

    engine = make_engine(sqlite_url)
    said: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: said.append(args[2]))
    sessions = make_sessions(engine)
    with sessions.read() as session:
        session.execute(text("SELECT 1"))
    assert "BEGIN" in said
    assert "BEGIN IMMEDIATE" not in said
    with sessions.write() as session:
        session.execute(text("SELECT 1"))
    assert "BEGIN IMMEDIATE" in said
    engine.dispose()


def test_sqlite_is_set_up_to_last(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with engine.connect() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    engine.dispose()
    assert found == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 30_000,
    }


def test_times_come_back_aware_and_in_utc(session: Session) -> None:
    user = make_user(session)
    user.created_at = datetime(2026, 11, 3, 12, 0, 5, 123456, timezone(timedelta(hours=2)))
    session.commit()
    session.expire_all()
    assert session.get_one(User, user.id).created_at == datetime(2026, 11, 3, 10, 0, 5, 123456, UTC)
    assert user.created_at.tzinfo is UTC


def test_a_time_without_zone_is_refused(session: Session) -> None:
    user = make_user(session)
    user.created_at = datetime(2026, 11, 3, 12, 0)
    with pytest.raises(StatementError, match="without zone"):
        session.flush()


def test_words_are_stored_not_names(session: Session) -> None:
    make_user(session, role=Role.RESEARCHER)
    assert session.execute(text("SELECT role FROM users")).scalar_one() == "researcher"


def test_judged_work_cannot_be_deleted(session: Session) -> None:
    assignment = make_assignment(session)
    session.add(JudgmentRow(assignment_id=assignment.id, position=0, entry=EntryKind.UNDO))
    session.commit()
    for statement in ("DELETE FROM assignments", "DELETE FROM users", "DELETE FROM studies"):
        with pytest.raises(IntegrityError):
            session.execute(text(statement))
        session.rollback()
    assert session.get(Assignment, assignment.id) is not None


def test_a_position_of_the_log_is_taken_once(session: Session) -> None:
    assignment = make_assignment(session)
    for _ in range(2):
        session.add(JudgmentRow(assignment_id=assignment.id, position=0, entry=EntryKind.UNDO))
    with pytest.raises(IntegrityError):
        session.flush()


def test_contents_do_not_come_along_unasked(session: Session, engine: Engine) -> None:
    make_study(session)
    session.commit()
    session.expunge_all()
    said: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: said.append(args[2]))
    assert session.scalars(select(Content)).all()
    assert said
    assert all("contents.data" not in statement for statement in said)

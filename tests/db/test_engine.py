import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from sqlalchemy import Engine, event, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError, StatementError
from sqlalchemy.orm import Session

from tests.cases import each_case
from tests.databases import PostgresqlTemplate
from tests.factories import make_assignment, make_study, make_user
from tests.waiting import WATCHDOG
from topkapi.app.db import engine as engines
from topkapi.app.db import migrations
from topkapi.app.db.engine import Sessions, make_engine, normal_url
from topkapi.app.db.models import Assignment, Content, JudgmentRow, Study, User
from topkapi.app.domain.enums import Role
from topkapi.app.domain.log import EntryKind


@each_case(
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


@each_case("wrong", ["mysql://host/db", "topkapi.db", "", "sqlite"])
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
    with sessions.write.begin() as session:  # the connection is returned writable
        make_user(session)


@pytest.fixture
def postgresql(postgresql_template: PostgresqlTemplate) -> Iterator[Engine]:
    with postgresql_template.copy() as url:
        engine = make_engine(url)
        yield engine
        engine.dispose()


def _end_all_others(engine: Engine) -> None:
    """Terminate all other connections, as a restart of the server does."""
    other = make_engine(engine.url.render_as_string(hide_password=False))
    with other.begin() as connection:
        ended = connection.execute(
            text(
                "SELECT count(pg_terminate_backend(pid, :patience)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ),
            {"patience": int(1000 * WATCHDOG)},
        ).scalar_one()
    other.dispose()
    assert ended == 3


@pytest.mark.parametrize("rested_seconds", [0.0, 3600.0])
def test_connections_that_the_server_ended_are_replaced(
    postgresql: Engine, monkeypatch: pytest.MonkeyPatch, rested_seconds: float
) -> None:
    monkeypatch.setattr("topkapi.app.db.engine.RESTED_SECONDS", rested_seconds)
    opened = [postgresql.connect() for _ in range(3)]
    for connection in opened:
        connection.execute(text("SELECT 1"))
    for connection in opened:
        connection.close()
    _end_all_others(postgresql)
    for _ in range(4):
        with postgresql.begin() as connection:
            assert connection.execute(text("SELECT 1")).scalar_one() == 1


def test_only_connections_that_have_rested_are_asked_whether_they_live(
    postgresql: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with postgresql.begin() as connection:
        connection.execute(text("SELECT 1"))
    statements: list[str] = []
    event.listen(postgresql, "before_cursor_execute", lambda *args: statements.append(args[2]))
    monkeypatch.setattr(
        postgresql.dialect, "do_ping", lambda _connection: statements.append("ping")
    )
    monkeypatch.setattr("topkapi.app.db.engine.RESTED_SECONDS", WATCHDOG)
    with postgresql.begin() as connection:
        connection.execute(text("SELECT 2"))
    assert statements == ["SELECT 2"]
    monkeypatch.setattr("topkapi.app.db.engine.RESTED_SECONDS", 0.0)
    with postgresql.begin() as connection:
        connection.execute(text("SELECT 3"))
    assert statements == ["SELECT 2", "ping", "SELECT 3"]


def test_readers_do_not_wait_for_a_writer(sessions: Sessions) -> None:
    with sessions.write.begin() as writer:
        make_user(writer)
        with sessions.read() as reader:
            assert reader.scalars(select(User)).all() == []


def test_writers_take_turns(sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        study = make_study(session)
        study_id, before = study.id, study.settings.k

    def raise_by_one() -> None:
        for _ in range(5):
            with sessions.write.begin() as session:
                study = session.get(Study, study_id, with_for_update=True)
                assert study is not None
                study.settings = replace(study.settings, k=study.settings.k + 1)

    threads = [threading.Thread(target=raise_by_one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with sessions.read() as session:
        assert session.scalars(select(Study.settings)).one().k == before + 40


def test_only_writing_transactions_of_sqlite_begin_immediately(sqlite_url: str) -> None:
    from topkapi.app.db.engine import make_sessions

    engine = make_engine(sqlite_url)
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    sessions = make_sessions(engine)
    with sessions.read() as session:
        session.execute(text("SELECT 1"))
    assert "BEGIN" in statements
    assert "BEGIN IMMEDIATE" not in statements
    with sessions.write() as session:
        session.execute(text("SELECT 1"))
    assert "BEGIN IMMEDIATE" in statements
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
        "busy_timeout": engines.BUSY_MS,
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
    statements: list[str] = []
    event.listen(engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    assert session.scalars(select(Content)).all()
    assert statements
    assert all("contents.data" not in statement for statement in statements)


@pytest.mark.thorough
def test_a_new_database_is_for_its_owner_only(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'topkapi.db'}"
    migrations.upgrade(url)
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE users SET name = name"))
        files = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").iterdir()}
    engine.dispose()
    assert set(files) == {"topkapi.db", "topkapi.db-wal", "topkapi.db-shm"}
    assert set(files.values()) == {0o600}


@pytest.mark.parametrize(("before", "after"), [(0o644, 0o640), (0o666, 0o660), (0o600, 0o600)])
def test_strangers_lose_access_to_an_older_database(
    sqlite_url: str, before: int, after: int
) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    path.chmod(before)
    make_engine(sqlite_url).dispose()
    assert path.stat().st_mode & 0o777 == after


def test_prepared_statements_are_switched_on_or_off() -> None:
    for word in ("on", "off"):
        make_engine(f"postgresql://localhost/topkapi?prepared_statements={word}").dispose()
    with pytest.raises(ValueError, match="on or off, not 'no'"):
        make_engine("postgresql://localhost/topkapi?prepared_statements=no")

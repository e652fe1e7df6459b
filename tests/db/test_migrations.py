from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import func, inspect, select

from tests.databases import PostgresqlTemplate
from tests.factories import make_assignment, make_study, make_user, queries_of
from tests.ranked import Judge, give_lists, make_ranked_study
from topkapi.app.db import migrations
from topkapi.app.db.base import Base
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Assignment, AuditEvent, JudgmentRow, Study, StudyAccess, User
from topkapi.app.domain.enums import Role
from topkapi.app.services import audit


def test_up_down_up_leaves_what_the_models_say(empty_database_url: str) -> None:
    url = empty_database_url
    engine = make_engine(url)
    assert migrations.revisions(engine).current is None

    migrations.upgrade(url)
    assert migrations.revisions(engine).up_to_date
    assert migrations.differences(engine) == []

    migrations.downgrade(url, "base")
    assert set(inspect(engine).get_table_names()) <= {"alembic_version"}

    migrations.upgrade(url)
    assert migrations.differences(engine) == []
    assert set(Base.metadata.tables) <= set(inspect(engine).get_table_names())
    engine.dispose()


@pytest.mark.thorough
def test_differences_are_seen(empty_database_url: str) -> None:
    migrations.upgrade(empty_database_url)
    engine = make_engine(empty_database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE users DROP COLUMN demo")
    assert [change[0] for change in migrations.differences(engine)] == ["add_column"]
    engine.dispose()


def test_every_constraint_has_its_name_on_both_databases(database_url: str) -> None:
    engine = make_engine(database_url)
    found = inspect(engine)
    for table in Base.metadata.tables.values():
        wanted = {str(c.name) for c in table.constraints if c.name} | {
            str(index.name) for index in table.indexes
        }
        stored = {found.get_pk_constraint(table.name)["name"]}
        stored |= {key["name"] for key in found.get_foreign_keys(table.name)}
        stored |= {unique["name"] for unique in found.get_unique_constraints(table.name)}
        stored |= {index["name"] for index in found.get_indexes(table.name)}
        if engine.dialect.name == "sqlite" and "id" in table.columns:
            wanted.discard(f"pk_{table.name}")  # an AUTOINCREMENT key is part of its column
        assert wanted <= stored, table.name
    engine.dispose()


def test_ids_are_never_reused_on_sqlite(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    with engine.connect() as connection:
        made = connection.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type='table'")
        statements = {row.name: row.sql for row in made}
    engine.dispose()
    numbered = [table for table in Base.metadata.tables.values() if "id" in table.columns]
    assert len(numbered) >= 15
    for table in numbered:
        assert "AUTOINCREMENT" in statements[table.name], table.name


@pytest.mark.thorough
def test_numbering_goes_on_behind_ids_that_only_the_audit_log_knows(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    migrations.upgrade(url, "0007")
    engine = make_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(
            "INSERT INTO audit_events (id, at, action, subject, detail) VALUES "
            "(7, '2026-11-15', 'assignment.withdraw', 'gone', '{\"assignment\": 57}')"
        )
    migrations.upgrade(url)
    with make_sessions(engine).write.begin() as session:
        assert make_assignment(session).id == 58
        audit.record(session, None, "study.archive", "another")
        session.flush()
        assert session.scalar(select(func.max(AuditEvent.id))) == 8
    engine.dispose()


def test_pages_are_stored_uncompressed_on_postgresql(
    postgresql_template: PostgresqlTemplate,
) -> None:
    """Check the storage mode; with compression an import of 200 MB took two and a half times as
    long.
    """
    statement = (
        "SELECT attname, attstorage::text FROM pg_attribute "
        "WHERE attrelid = 'contents'::regclass AND attname IN ('data', 'text') ORDER BY attname"
    )
    with postgresql_template.copy() as url:
        engine = make_engine(url)
        with engine.connect() as connection:
            found = connection.exec_driver_sql(statement).all()
        engine.dispose()
    assert [tuple(row) for row in found] == [("data", "e"), ("text", "e")]


def down_and_up(url: str, revision: str) -> None:
    migrations.downgrade(url, revision)
    migrations.upgrade(url)


@pytest.mark.thorough
def test_a_study_takes_its_state_over_from_the_audit_log(
    database_url: str, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study = make_study(session, slug="tulips", queries=1, documents=2)
        for people in ([1, 2], [2, 1]):
            audit.record(
                session, None, "study.assign", "tulips", people=people, seed="s", lists=False
            )
        audit.record(session, None, "study.assign", "tulips", assignments=1)
        audit.record(session, None, "study.copy", "tulips", file="a.zip", bytes=5, judgments=3)
        audit.record(session, None, "study.copy", "roses", file="b.zip", bytes=5, judgments=3)
        number = study.id
    down_and_up(database_url, "0008")
    with sessions.read() as session:
        study = session.get_one(Study, number)
        assert study.rotations == {"ruled": {"people": [2, 1], "seed": "s"}}
        assert study.full_copy is not None
        assert (study.full_copy["file"], study.full_copy["judgments"]) == ("a.zip", 3)
        assert datetime.fromisoformat(study.full_copy["at"]).tzinfo is not None


@pytest.mark.thorough
def test_researchers_keep_the_studies_there_are(database_url: str, sessions: Sessions) -> None:
    with sessions.write.begin() as session:
        people = [make_user(session, role=role, reads=False) for role in Role]
        studies = [make_study(session), make_study(session)]
        given = {(people[1].id, study.id) for study in studies}
    down_and_up(database_url, "0020")
    with sessions.read() as session:
        rows = session.scalars(select(StudyAccess)).all()
        assert {(row.user_id, row.study_id) for row in rows} == given


@pytest.mark.thorough
def test_work_that_asks_nothing_is_finished_by_the_upgrade(
    database_url: str, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        made = {
            pages: make_assignment(
                session, query=queries_of(session, make_study(session, documents=pages))[0]
            ).id
            for pages in (0, 1, 2)
        }
    down_and_up(database_url, "0019")
    with sessions.read() as session:
        rows = {pages: session.get_one(Assignment, number) for pages, number in made.items()}
        assert [rows[pages].finished_at is not None for pages in (0, 1, 2)] == [True, True, False]
        assert rows[1].finished_at == rows[1].created_at


@pytest.mark.thorough
def test_compared_lists_are_lost_as_a_whole_by_a_downgrade(
    database_url: str, sessions: Sessions
) -> None:
    with sessions.write.begin() as session:
        study = make_ranked_study(session, lists_pairs="active")
        user = make_user(session)
        Judge(session, give_lists(session, study, user=user)).say()
        kept = make_assignment(session, query=queries_of(session, study)[0]).id
    down_and_up(database_url, "0005")
    with sessions.write.begin() as session:
        assert session.scalars(select(Assignment.id)).all() == [kept]
        assert session.scalar(select(func.count(JudgmentRow.id))) == 0
        study, user = session.get_one(Study, 1), session.get_one(User, user.id)
        Judge(session, give_lists(session, study, user=user)).to_the_end()

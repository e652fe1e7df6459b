"""Backups restore what was written, from either database into either."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, select

from tests.databases import PostgresqlTemplate
from tests.factories import make_user
from tests.judging import make_job
from tests.sizes import KINDS
from topkapi.app.db import migrations
from topkapi.app.db.base import Base
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Study
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.backups import read_backup, write_backup
from topkapi.app.services.jobs.store import queue_job
from topkapi.app.services.results.systems.runs import add_runs, read_runs

pytestmark = pytest.mark.both

HEAD = migrations.head_revision()


def everything(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    with engine.connect() as connection:
        return {
            table.name: [
                tuple(row)
                for row in connection.execute(select(table).order_by(*table.primary_key.columns))
            ]
            for table in Base.metadata.sorted_tables
        }


@pytest.fixture(params=KINDS)
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """Yield a second fresh database, of each kind."""
    if request.param == "sqlite":
        template: Path = request.getfixturevalue("sqlite_template")
        engine = make_engine(f"sqlite:///{shutil.copy(template, tmp_path / 'other.db')}")
        yield engine
        engine.dispose()
        return
    postgresql: PostgresqlTemplate = request.getfixturevalue("postgresql_template")
    with postgresql.copy() as url:
        engine = make_engine(url)
        yield engine
        engine.dispose()


def test_a_backup_moves_everything_between_databases(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    sessions = make_sessions(engine)
    with sessions.write.begin() as session:
        make_job(session, documents=5)
        study = session.scalars(select(Study)).one()
        add_runs(session, study, read_runs([("run", b"q0 Q0 q0-d0 1 1 bm25")]))
        job = queue_job(session, study, "models", {"models": ["ranksvm"]}, actor_id=1)
        job.result = '{"measure": "κ-N@10"}'
        make_user(session, name="Zoë 漢字 \u2028", role=Role.ADMIN)
    path = tmp_path / "backup.zip"
    counts = write_backup(engine, HEAD, path)
    assert (counts["documents"], counts["runs"], counts["jobs"]) == (5, 1, 1)
    assert read_backup(other, HEAD, path) == counts
    assert everything(other) == everything(engine)
    with make_sessions(other).write.begin() as session:
        assert make_user(session).id > 2, "numbering goes on behind the restored rows"


def test_a_database_with_rows_is_not_written_to(engine: Engine, tmp_path: Path) -> None:
    with make_sessions(engine).write.begin() as session:
        make_user(session)
    write_backup(engine, HEAD, tmp_path / "backup.zip")
    before = everything(engine)
    with pytest.raises(Conflict, match="not empty"):
        read_backup(engine, HEAD, tmp_path / "backup.zip")
    assert everything(engine) == before


def test_a_damaged_or_foreign_file_is_refused_and_nothing_is_written(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    with make_sessions(engine).write.begin() as session:
        make_job(session)
    whole = tmp_path / "backup.zip"
    write_backup(engine, HEAD, whole)
    cut, foreign, short = (tmp_path / f"{name}.zip" for name in ("cut", "foreign", "short"))
    cut.write_bytes(whole.read_bytes()[:500])
    with ZipFile(foreign, "w") as archive:
        archive.writestr("hello.txt", "hello")
    _without_last_line(whole, short, "documents.jsonl")
    empty = everything(other)
    for path in (cut, foreign, short):
        with pytest.raises(Invalid):
            read_backup(other, HEAD, path)
    with pytest.raises(Invalid, match="migration"):
        read_backup(other, "9999", whole)
    assert everything(other) == empty


def _without_last_line(source: Path, target: Path, member: str) -> None:
    with ZipFile(source) as old, ZipFile(target, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == member:
                data = b"".join(data.splitlines(keepends=True)[:-1])
            new.writestr(name, data)


def test_a_nul_that_sqlite_has_stored_is_replaced(
    sqlite_url: str, other: Engine, tmp_path: Path
) -> None:
    engine = make_engine(sqlite_url)
    with make_sessions(engine).write.begin() as session:
        make_user(session, name="Ansa MARK Lehto")
    with closing(sqlite3.connect(str(engine.url.database))) as raw, raw:
        raw.execute("UPDATE users SET name = replace(name, 'MARK', char(0))")
    write_backup(engine, HEAD, tmp_path / "backup.zip")
    engine.dispose()
    read_backup(other, HEAD, tmp_path / "backup.zip")
    assert "Ansa \ufffd Lehto" in str(everything(other)["users"])

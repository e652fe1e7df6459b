"""A backup is a consistent snapshot and blocks no writer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from tests.factories import make_user
from tests.judging import make_job
from tests.services.test_backups import everything, other
from topkapi.app.db import migrations
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.services.accounts import tokens
from topkapi.app.services.backups import read_backup, write_backup

pytestmark = pytest.mark.both

__all__ = ["other"]  # a fixture
HEAD = migrations.head_revision()


def writes_at_once(url: str) -> None:
    """Write to parents and children from another connection that does not wait for locks."""
    engine = make_engine(url)
    with make_sessions(engine).write() as session:
        no_wait = (
            # seconds: nobody holds a lock, or the test fails; 0 would be no limit
            "PRAGMA busy_timeout=0" if engine.dialect.name == "sqlite" else "SET lock_timeout=1"
        )
        event.listen(engine, "connect", lambda connection, _: connection.execute(no_wait))
        tokens.issue_token(session, make_user(session), "meanwhile")
        session.commit()
    engine.dispose()


def during(engine: Engine, act: Callable[[], None]) -> list[str]:
    """Run ``act`` once, after the backup has read some of the tables."""
    read: list[str] = []

    def after(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT") and "FROM" in statement:
            read.append(statement)
            if len(read) == 6:
                act()

    event.listen(engine, "after_cursor_execute", after)
    return read


def test_others_write_while_a_backup_is_read_and_it_is_of_one_moment(
    engine: Engine, database_url: str, other: Engine, tmp_path: Path
) -> None:
    with make_sessions(engine).write.begin() as session:
        make_job(session, documents=5)
    before = everything(engine)
    reading = make_engine(database_url)
    read = during(reading, lambda: writes_at_once(database_url))
    write_backup(reading, HEAD, tmp_path / "backup.zip")
    reading.dispose()
    assert len(read) > 6, "it was in the middle"
    after = everything(engine)
    assert len(after["users"]) == len(before["users"]) + 1
    read_backup(other, HEAD, tmp_path / "backup.zip")
    assert everything(other) == before


def test_a_backup_takes_no_write_lock(database_url: str, tmp_path: Path) -> None:
    reading = make_engine(database_url)
    statements: list[str] = []
    event.listen(reading, "before_cursor_execute", lambda *args: statements.append(args[2]))
    write_backup(reading, HEAD, tmp_path / "backup.zip")
    reading.dispose()
    assert statements
    assert "BEGIN IMMEDIATE" not in statements


@pytest.mark.parametrize("overwrite", [False, True])
def test_files_are_for_their_owner_only(sqlite_url: str, tmp_path: Path, overwrite: bool) -> None:
    path, partial = tmp_path / "backup.zip", tmp_path / "backup.zip.partial"
    if overwrite:
        path.touch(0o644)
        partial.touch(0o644)
    engine = make_engine(sqlite_url)
    modes: list[int] = []
    during(engine, lambda: modes.append(partial.stat().st_mode & 0o777))
    write_backup(engine, HEAD, path)
    engine.dispose()
    assert modes == [0o600]
    assert path.stat().st_mode & 0o777 == 0o600
    assert not partial.exists()

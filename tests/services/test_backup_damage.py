"""Damaged, changed and foreign backups are refused with a message, and nothing is written."""

import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest
from sqlalchemy import Engine, delete, select

from tests.factories import make_assignment, make_user
from tests.judging import make_job
from tests.services.test_backups import everything, other
from topkapi.app.db import migrations
from topkapi.app.db.base import Base
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import Assignment, User
from topkapi.app.domain.errors import Invalid
from topkapi.app.services.backups import read_backup, write_backup

pytestmark = pytest.mark.both

__all__ = ["other"]  # a fixture
HEAD = migrations.head_revision()
Change = Callable[[list[dict[str, Any]]], object]


@pytest.fixture
def backup(sqlite_url: str, tmp_path: Path) -> Path:
    engine = make_engine(sqlite_url)
    with make_sessions(engine).write.begin() as session:
        make_job(session, documents=5)
    write_backup(engine, HEAD, tmp_path / "backup.zip")
    engine.dispose()
    return tmp_path / "backup.zip"


def rezip(
    path: Path, table: str, change: Change, *, careful: bool, how: int = ZIP_DEFLATED
) -> None:
    """Change rows of a table in the zip; with ``careful``, update the digests too."""
    with ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    rows = [json.loads(line) for line in members[f"{table}.jsonl"].splitlines()]
    change(rows)
    data = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    members[f"{table}.jsonl"] = data
    if careful:
        manifest = json.loads(members["backup.json"])
        manifest["sha256"][table] = hashlib.sha256(data).hexdigest()
        manifest["rows"][table] = len(rows)
        members["backup.json"] = json.dumps(manifest).encode()
    with ZipFile(path, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def set_in_second(**values: Any) -> Change:
    return lambda rows: rows[1].update(values)


CHANGED: list[tuple[str, Change, bool, str]] = [
    ("contents", set_in_second(data="SGVsbG8="), True, "contents, line 2: .* hash"),
    ("contents", set_in_second(media_type="text/html"), True, "contents, line 2: .* hash"),
    ("contents", set_in_second(size=1), True, "contents, line 2: .* bytes"),
    ("contents", set_in_second(data="%"), True, "contents, line 2"),
    ("contents", set_in_second(text="another text"), False, "contents .*SHA-256"),
    ("documents", set_in_second(title="Another"), False, "documents .*SHA-256"),
    ("documents", lambda rows: rows.reverse(), False, "documents .*SHA-256"),
    ("documents", lambda rows: rows.pop(), False, "documents should have 5 rows but has 4"),
    ("documents", set_in_second(study_id=99), True, "documents, lines 1 to 5: the database"),
    ("documents", set_in_second(more=1), True, "documents, line 2: .*more"),
    ("documents", lambda rows: rows[1].pop("title"), True, "documents, line 2: .*title"),
    ("users", lambda rows: rows[0].update(role="queen"), True, "users, line 1: .*queen"),
    ("users", lambda rows: rows[0].update(created_at=5), True, "users, line 1"),
    ("assignments", lambda rows: rows[0]["plan"].update(k=9), True, "assignments, line 1: .*plan"),
]


@pytest.mark.parametrize(("table", "change", "careful", "why"), CHANGED)
def test_a_changed_backup_is_refused_with_table_and_line(
    backup: Path, other: Engine, table: str, change: Change, careful: bool, why: str
) -> None:
    empty = everything(other)
    rezip(backup, table, change, careful=careful)
    with pytest.raises(Invalid, match=f"damaged: {why}"):
        read_backup(other, HEAD, backup)
    assert everything(other) == empty


def test_a_backup_that_was_zipped_again_is_still_one(backup: Path, other: Engine) -> None:
    rezip(backup, "documents", lambda _: None, careful=False)
    assert read_backup(other, HEAD, backup)["documents"] == 5


def test_another_compression_is_refused(backup: Path, other: Engine) -> None:
    rezip(backup, "documents", lambda _: None, careful=False, how=ZIP_LZMA)
    with pytest.raises(Invalid, match="damaged"):
        read_backup(other, HEAD, backup)


@pytest.mark.thorough
def test_damaged_bytes_never_pass_unseen(backup: Path, sqlite_url: str, tmp_path: Path) -> None:
    """Flip one byte anywhere: it is refused with a message, or it made no difference."""
    whole, draws = backup.read_bytes(), random.Random(5)
    source = make_engine(sqlite_url)
    wanted = everything(source)
    source.dispose()
    target = f"sqlite:///{tmp_path / 'target.db'}"
    migrations.upgrade(target)
    engine = make_engine(target)
    empty, refused = everything(engine), 0
    for index in draws.sample(range(len(whole)), 150):
        flipped = bytes([whole[index] ^ draws.randrange(1, 256)])
        backup.write_bytes(whole[:index] + flipped + whole[index + 1 :])
        try:
            read_backup(engine, HEAD, backup)
        except Invalid:
            refused += 1
            assert everything(engine) == empty
            continue
        assert everything(engine) == wanted
        _empty(engine)
    engine.dispose()
    assert refused > 75  # about a third of a small archive are dates and attributes of its entries


def _empty(engine: Engine) -> None:
    with engine.begin() as connection:
        for table in reversed(Base.metadata.sorted_tables):
            connection.execute(delete(table))


def test_ids_that_were_deleted_before_a_backup_stay_used_after_it(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    with make_sessions(engine).write.begin() as session:
        kept, deleted = make_assignment(session), make_assignment(session, round=1)
        make_user(session)
        session.execute(delete(Assignment).where(Assignment.id == deleted.id))
        last = (deleted.id, max(session.scalars(select(User.id))))
    write_backup(engine, HEAD, tmp_path / "backup.zip")
    read_backup(other, HEAD, tmp_path / "backup.zip")
    with make_sessions(other).write.begin() as session:
        assert session.scalars(select(Assignment.id)).all() == [kept.id]
        assert make_user(session).id == last[1] + 1
        assert make_assignment(session).id == last[0] + 1

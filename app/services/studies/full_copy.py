"""A full copy of one study: all its rows as JSON Lines in a zip, with the bytes of pages."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import Select, Table, or_, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Content, JudgmentRow, Study, User
from topkapi.app.db.queries.studies import study_tables
from topkapi.app.db.queries.studies.studies import required_study
from topkapi.app.db.row_files import write_rows
from topkapi.app.services import audit

FORMAT = 1
HEADER, PEOPLE = "copy.json", "people"
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy that was written: its file and the number of rows per table."""

    name: str
    path: Path
    size: int
    sha256: str
    rows: dict[str, int]


def write_copy(session: Session, study: Study, path: Path) -> Copy:
    """Write all data of the study to ``path``; the session should read from one snapshot."""
    rows: dict[str, int] = {}
    with _private_file(path) as file, ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, found in _parts(session, study):
            rows[name], _ = write_rows(archive, name, found)
        header = {"format": FORMAT, "study": study.slug, "made_at": now().isoformat(), "rows": rows}
        archive.writestr(HEADER, json.dumps(header, indent=1))
    name = f"topkapi-{study.slug}-{now():%Y%m%d-%H%M%S}.zip"
    return Copy(name, path, path.stat().st_size, _digest(path), rows)


def _private_file(path: Path) -> BinaryIO:
    """Open a new file that nobody else can read: it has names, e-mails and judgments."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.fchmod(handle, 0o600)
    return os.fdopen(handle, "w+b")


def copy_study(sessions: Sessions, slug: str, path: Path, actor_id: int | None = None) -> Copy:
    """Write a copy from one snapshot of the database, and record it."""
    with sessions.read() as reading:
        if reading.get_bind().dialect.name == "postgresql":
            reading.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        copy = write_copy(reading, required_study(reading, slug), path)
    with sessions.write.begin() as session:
        note_copy(session, required_study(session, slug), copy, actor_id)
    return copy


def note_copy(session: Session, study: Study, copy: Copy, actor_id: int | None = None) -> None:
    """Record the download of a full copy, with the number of log entries in it."""
    facts = {"file": copy.name, "bytes": copy.size, "sha256": copy.sha256}
    facts["judgments"] = copy.rows[JudgmentRow.__tablename__]
    study.full_copy = {**facts, "at": now().isoformat()}
    audit.record(session, actor_id, "study.copy", study.slug, **facts)


def _parts(session: Session, study: Study) -> Iterator[tuple[str, Iterator[Mapping[Any, Any]]]]:
    for table in study_tables.tables_of_study():
        statement = select(table).where(study_tables.rows_of_study(table, study.id))
        yield table.name, _rows(session, statement.order_by(*table.primary_key.columns))
    users = select(User.id, User.email, User.name, User.role, User.machine)
    users = users.where(or_(*(User.id.in_(found) for found in _people(study))))
    yield PEOPLE, _rows(session, users.order_by(User.id))
    yield Content.__tablename__, _contents(session, study_tables.hashes_of_study(session, study.id))


def _people(study: Study) -> Iterator[Select[int]]:
    """Yield the ids of people that rows of the study refer to, table by table."""
    for table in study_tables.tables_of_study():
        for key in table.foreign_keys:
            if key.column.table.name == User.__tablename__:
                mine = study_tables.rows_of_study(table, study.id)
                yield select(key.parent).where(mine, key.parent.is_not(None))


def _contents(session: Session, hashes: list[str]) -> Iterator[Mapping[Any, Any]]:
    """Yield contents by their hashes, in batches, so that memory does not grow with the study."""
    table = _table(Content)
    for start in range(0, len(hashes), 50):
        batch = hashes[start : start + 50]
        yield from _rows(session, select(table).where(table.c.hash.in_(batch)))


def _rows(session: Session, statement: Select[*tuple[Any, ...]]) -> Iterator[Mapping[Any, Any]]:
    yield from session.execute(statement.execution_options(yield_per=_BATCH)).mappings()


def _table(model: Any) -> Table:
    table = model.__table__
    assert isinstance(table, Table)
    return table


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

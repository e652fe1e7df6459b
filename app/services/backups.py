"""A backup is one zip: every table as JSON Lines, portable between SQLite and PostgreSQL.

It is read from one transaction, so it is of one moment, and written back into an empty database of
the same migration, all or nothing.
"""

import base64
import enum
import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

from sqlalchemy import Connection, Engine, LargeBinary, Table, func, insert, select, text

from app.db.base import Base, UtcDateTime
from app.domain.errors import Conflict, Invalid
from app.domain.texts import storable

MANIFEST = "backup.json"
FORMAT = 1
BATCH = 500


def write_backup(engine: Engine, revision: str, path: Path) -> dict[str, int]:
    """Write every table to ``path`` and return the rows of each; no half-written file is left."""
    partial = path.with_name(path.name + ".partial")
    counts: dict[str, int] = {}
    try:
        with (
            engine.connect().execution_options(isolation_level=_one_moment(engine)) as connection,
            ZipFile(partial, "w", ZIP_DEFLATED) as archive,
        ):
            for table in Base.metadata.sorted_tables:
                counts[table.name] = _write_table(connection, table, archive)
            manifest = {"format": FORMAT, "revision": revision, "rows": counts}
            archive.writestr(MANIFEST, json.dumps(manifest, indent=1))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return counts


def read_backup(engine: Engine, revision: str, path: Path) -> dict[str, int]:
    """Fill the empty database from ``path`` and return the rows of each table."""
    try:
        with ZipFile(path) as archive, engine.begin() as connection:
            manifest = _manifest(archive, revision, path)
            _refuse_unless_empty(connection)
            for table in Base.metadata.sorted_tables:
                _read_table(connection, table, archive, manifest["rows"].get(table.name, 0))
            if engine.dialect.name == "postgresql":
                _advance_sequences(connection)
    except (BadZipFile, KeyError, json.JSONDecodeError) as error:
        raise Invalid(f"{path} is not a backup of Topkapi, or is damaged: {error}") from error
    rows: dict[str, int] = manifest["rows"]
    return rows


def _one_moment(engine: Engine) -> str:
    return "REPEATABLE READ" if engine.dialect.name == "postgresql" else "SERIALIZABLE"


def _write_table(connection: Connection, table: Table, archive: ZipFile) -> int:
    order = list(table.primary_key.columns)
    rows = connection.execution_options(yield_per=BATCH).execute(select(table).order_by(*order))
    count = 0
    with archive.open(f"{table.name}.jsonl", "w") as stream:
        for row in rows.mappings():
            line = {name: plain(value) for name, value in row.items()}
            stream.write(json.dumps(line, ensure_ascii=False).encode(errors="replace") + b"\n")
            count += 1
    return count


def plain(value: Any) -> Any:
    """A value that JSON has: bytes as base64, times in ISO form, enumerations as their words."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, enum.Enum) else value


def _manifest(archive: ZipFile, revision: str, path: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads(archive.read(MANIFEST))
    if manifest["format"] != FORMAT:
        raise Invalid(f"{path} has format {manifest['format']}; this version reads {FORMAT}.")
    if manifest["revision"] != revision:
        raise Invalid(
            f"{path} was made at migration {manifest['revision']}, this version is at {revision}: "
            "restore it with the version that made it, then upgrade."
        )
    return manifest


def _refuse_unless_empty(connection: Connection) -> None:
    for table in Base.metadata.sorted_tables:
        if connection.scalar(select(func.count()).select_from(table)):
            raise Conflict(
                f"The database is not empty: {table.name} has rows. Nothing was written."
            )


def _read_table(connection: Connection, table: Table, archive: ZipFile, expected: int) -> None:
    count = 0
    with archive.open(f"{table.name}.jsonl") as stream:
        for batch in _batches(stream):
            rows = [_typed(table, _parsed(line)) for line in batch]
            connection.execute(insert(table), rows)
            count += len(rows)
    if count != expected:
        raise Invalid(f"{table.name} should have {expected} rows and has {count}: damaged backup.")


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    iterator = iter(lines)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _parsed(line: bytes) -> dict[str, Any]:
    """Parse a row; U+FFFD replaces NUL, which SQLite once stored and PostgreSQL never does."""
    row: dict[str, Any] = json.loads(line)
    return _storable(row) if b"\\u0000" in line else row


def _storable(value: Any) -> Any:
    if isinstance(value, dict):
        return {_storable(key): _storable(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_storable(each) for each in value]
    return storable(value) if isinstance(value, str) else value


def _typed(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    """The row with the values its columns take."""
    for column in table.columns:
        value = row[column.name]
        if value is None:
            continue
        if isinstance(column.type, LargeBinary):
            row[column.name] = base64.b64decode(value)
        elif isinstance(column.type, UtcDateTime):
            row[column.name] = datetime.fromisoformat(value)
        elif (kind := getattr(column.type, "enum_class", None)) is not None:
            row[column.name] = kind(value)
    return row


def _advance_sequences(connection: Connection) -> None:
    """Let PostgreSQL go on numbering behind the rows that came with their numbers."""
    for table in Base.metadata.sorted_tables:
        if "id" in table.columns and table.columns["id"].autoincrement:
            connection.execute(
                text(
                    f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), "
                    f"GREATEST((SELECT COALESCE(MAX(id), 0) FROM {table.name}), 1), "
                    f"EXISTS (SELECT 1 FROM {table.name}))"
                )
            )

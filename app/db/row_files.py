"""What backups and copies of a study share: zips of rows as JSON Lines, checked when read."""

import base64
import enum
import hashlib
import io
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, cast
from zipfile import BadZipFile, ZipFile

from sqlalchemy import Column, LargeBinary, Table

from topkapi.app.db.base import UtcDateTime
from topkapi.app.db.models import Assignment, Content
from topkapi.app.db.models.document import content_hash
from topkapi.app.db.models.study import SettingsColumn
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.domain.study import StudySettings
from topkapi.app.domain.text.storable import storable

Row = dict[str, Any]
_ROWS = 500
_BYTES = 4 * 1024**2  # of lines in one batch
DAMAGE = (  # what zipfile, zlib and json raise for damaged files
    *(BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError),
    *(KeyError, ValueError, NotImplementedError, RuntimeError),
)


def member(table: str) -> str:
    """Return the name of a table's file in the zip."""
    return f"{table}.jsonl"


def write_rows(archive: ZipFile, name: str, rows: Iterable[Mapping[Any, Any]]) -> tuple[int, str]:
    """Write the rows of a table; return their number and the SHA-256 of their lines."""
    digest, count = hashlib.sha256(), 0
    with archive.open(member(name), "w", force_zip64=True) as stream:
        for row in rows:
            values = {str(key): plain(value) for key, value in row.items()}
            line = json.dumps(values, ensure_ascii=False).encode() + b"\n"
            stream.write(line)
            digest.update(line)
            count += 1
    return count, digest.hexdigest()


class DamagedTable(ValueError):
    """A table of an archive that is not as it was written; line 0 means all of it."""

    def __init__(self, table: str, line: int, why: str) -> None:
        super().__init__(f"{table}, line {line}: {why}" if line else f"{table} {why}")
        self.table, self.line, self.why = table, line, why


def read_rows(
    archive: ZipFile, table: str, convert: Callable[[Any], Row], expected: int, sha256: str = ""
) -> Iterator[list[Row]]:
    """Yield the converted rows of a table in batches, bounded in number and in bytes.

    Raise DamagedTable for a row that cannot be converted, and in the end if there are not as many
    as ``expected``, or not those whose lines have the digest ``sha256``.
    """
    digest, number, size = hashlib.sha256(), 0, 0
    batch: list[Row] = []
    with archive.open(member(table)) as packed:
        for number, line in enumerate(io.BufferedReader(cast(io.RawIOBase, packed), 1024**2), 1):
            digest.update(line)
            size += len(line)
            try:
                batch.append(convert(json.loads(line)))
            except (ValueError, TypeError, KeyError) as error:
                raise DamagedTable(table, number, str(error)) from error
            if len(batch) >= _ROWS or size >= _BYTES:
                yield batch
                batch, size = [], 0
    if batch:
        yield batch
    if number != expected:
        raise DamagedTable(table, 0, f"should have {expected} rows but has {number}")
    if sha256 and digest.hexdigest() != sha256:
        why = f"was changed: the SHA-256 of its {number} lines differs"
        raise DamagedTable(table, 0, why)


def plain(value: Any) -> Any:
    """Return the value in JSON form: base64, ISO times, and text that both databases can store.

    Older versions stored NUL in SQLite, which PostgreSQL refuses; U+FFFD replaces it.
    """
    if isinstance(value, StudySettings):
        return plain(value.as_json())
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(key): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def row_of(table: Table, values: Row) -> Row:
    """Return the row converted to its column types; raise ValueError if it is invalid."""
    if set(values) != {column.name for column in table.columns}:
        differing = sorted(set(values) ^ {column.name for column in table.columns})
        raise ValueError(f"columns are missing or unknown: {', '.join(differing)}")
    row = {column.name: _typed(column, values[column.name]) for column in table.columns}
    if table.name == Content.__tablename__:
        _check_content(row)
    elif table.name == Assignment.__tablename__:
        _check_plan(row)
    return row


def _typed(column: Column[Any], value: Any) -> Any:
    if value is None:
        return None
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value, validate=True)
    if isinstance(column.type, UtcDateTime):
        return datetime.fromisoformat(value).astimezone(UTC)
    if isinstance(column.type, SettingsColumn):
        try:
            return StudySettings.from_json(value)
        except Invalid as error:
            raise ValueError(str(error)) from None
    kind = getattr(column.type, "enum_class", None)
    return value if kind is None else kind(value)


def _check_content(row: Row) -> None:
    if content_hash(row["media_type"], row["data"]) != row["hash"]:
        raise ValueError(f"the content was changed: its hash is not {row['hash']}")
    if row["size"] != len(row["data"]):
        raise ValueError(f"the content has {len(row['data'])} bytes, not {row['size']}")


def _check_plan(row: Row) -> None:
    if plan_digest(row["plan"]) != row["plan_digest"]:
        raise ValueError(f"the plan was changed: its digest is not {row['plan_digest']}")

"""What backups and copies of a study share: rows as JSON Lines in a zip; and the manifest."""

import base64
import enum
import hashlib
import json
import struct
import zlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from zipfile import BadZipFile, ZipFile

from pydantic import BaseModel, ConfigDict

from topkapi.app.domain.study import StudySettings
from topkapi.app.domain.text.storable import storable

MANIFEST = "backup.json"
FORMAT = 2
DAMAGE = (  # what zipfile, zlib and json raise for damaged files
    *(BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError),
    *(KeyError, ValueError, NotImplementedError, RuntimeError),
)


class Manifest(BaseModel):
    """Per table: the number of rows, the SHA-256 of its lines, and the highest id ever assigned.

    The digests detect damage and careless changes. They are not a signature: anyone who edits a
    backup can recompute them.
    """

    model_config = ConfigDict(strict=True)

    format: int = FORMAT
    revision: str
    rows: dict[str, int]
    sha256: dict[str, str]
    last_ids: dict[str, int]


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

"""The manifest of a backup, and the JSON form of its values."""

import base64
import enum
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from topkapi.app.domain.study import StudySettings
from topkapi.app.domain.text.storable import storable

MANIFEST = "backup.json"
FORMAT = 2


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

"""What a backup says of itself, and how values are written in it."""

import base64
import enum
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from topkapi.app.domain.text.storable import storable

MANIFEST = "backup.json"
FORMAT = 2


class Manifest(BaseModel):
    """By table: its rows, the SHA-256 of its lines, and the highest id that was ever given.

    The digests find damage and careless changes. They are no signature: who rewrites them as well
    makes another backup.
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
    """Return the value as JSON has it: base64, ISO times, and text that both databases store.

    Older versions stored NUL in SQLite, which PostgreSQL refuses; U+FFFD replaces it.
    """
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

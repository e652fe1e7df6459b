"""What a backup says of itself, and how values are written in it."""

import base64
import enum
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

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
    """A value that JSON has: bytes as base64, times in ISO form, enumerations as their words."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat()
    return value.value if isinstance(value, enum.Enum) else value

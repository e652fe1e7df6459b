"""One row of a backup: conversion to column types, and integrity checks."""

import base64
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, LargeBinary, Table

from topkapi.app.db.base import UtcDateTime
from topkapi.app.db.models import Assignment, Content
from topkapi.app.db.models.study import SettingsColumn
from topkapi.app.domain.errors import Invalid
from topkapi.app.domain.plan_digest import plan_digest
from topkapi.app.domain.study import StudySettings
from topkapi.app.services.importing.records.contents import content_hash

Row = dict[str, Any]


def row_of(table: Table, found: Row) -> Row:
    """Return the row converted to its column types; raise ValueError if it is invalid."""
    if set(found) != {column.name for column in table.columns}:
        differing = sorted(set(found) ^ {column.name for column in table.columns})
        raise ValueError(f"columns are missing or unknown: {', '.join(differing)}")
    row = {column.name: _typed(column, found[column.name]) for column in table.columns}
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

"""Rows of a backup: conversion to column types, integrity checks, and highest assigned ids."""

import base64
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Column, Connection, LargeBinary, Table, text

from topkapi.app.db.base import Base, UtcDateTime
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


def last_ids(connection: Connection) -> dict[str, int]:
    """Return the highest id that each table ever assigned."""
    return {table.name: _last_id(connection, table) for table in _numbered()}


def continue_numbering(connection: Connection, last: Mapping[str, int]) -> None:
    """Make every table assign ids above its rows and above its id in ``last``."""
    for table in _numbered():
        stored = connection.scalar(text(f"SELECT MAX(id) FROM {table.name}")) or 0
        _advance(connection, table, max(stored, last[table.name]))


def _numbered() -> Iterator[Table]:
    return (table for table in Base.metadata.sorted_tables if "id" in table.columns)


def _last_id(connection: Connection, table: Table) -> int:
    if connection.dialect.name == "sqlite":
        statement = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        return connection.scalar(statement, {"name": table.name}) or 0
    sequence = connection.scalar(text(f"SELECT pg_get_serial_sequence('{table.name}', 'id')"))
    statement = text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")
    return connection.scalar(statement) or 0


def _advance(connection: Connection, table: Table, last: int) -> None:
    if connection.dialect.name == "sqlite":
        values = {"name": table.name, "last": last}
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), values)
        connection.execute(text("INSERT INTO sqlite_sequence VALUES (:name, :last)"), values)
    elif last:
        sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
        connection.execute(text(f"SELECT setval({sequence}, :last)"), {"last": last})

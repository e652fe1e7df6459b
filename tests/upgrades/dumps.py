"""Dumps of whole databases, independent of the current models."""

import base64
import gzip
import json
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Engine, LargeBinary, MetaData, select

from topkapi.app.db.search import is_search_object

STORED = Path(__file__).parent / "stored"
Dump = dict[str, Any]


def write_dump(dump: Dump) -> Path:
    """Write ``dump`` to the file of its revision; equal dumps give equal bytes."""
    path = STORED / f"{dump['revision']}.json.gz"
    STORED.mkdir(exist_ok=True)
    text = json.dumps(dump, ensure_ascii=False, sort_keys=True)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def read_dump(path: Path) -> Dump:
    """Read the dump of one released schema."""
    dump: Dump = json.loads(gzip.decompress(path.read_bytes()))
    return dump


def rows_of(engine: Engine) -> dict[str, list[dict[str, Any]]]:
    """Return every row of every table as JSON values, parents before children."""
    with engine.connect() as connection:
        return {
            table.name: [
                {name: _plain(value) for name, value in row.items()}
                for row in connection.execute(select(table).order_by(*table.primary_key)).mappings()
            ]
            for table in _tables(engine).sorted_tables
        }


def fill(engine: Engine, rows: dict[str, list[dict[str, Any]]]) -> None:
    """Insert the rows of a dump into an empty database of its revision."""
    tables = _tables(engine)
    with engine.begin() as connection:
        for table in tables.sorted_tables:
            typed = [
                {column.name: _typed(column, row[column.name], engine) for column in table.columns}
                for row in rows[table.name]
            ]
            if typed:
                connection.execute(table.insert(), typed)
        if engine.dialect.name == "postgresql":
            for name in (table.name for table in tables.sorted_tables if "id" in table.columns):
                connection.exec_driver_sql(
                    f"SELECT setval(pg_get_serial_sequence('{name}', 'id'), "
                    f"(SELECT MAX(id) FROM {name}))"
                )


def _tables(engine: Engine) -> MetaData:
    metadata = MetaData()
    metadata.reflect(engine, only=lambda name, _: not is_search_object(name, "table"))
    metadata.remove(metadata.tables["alembic_version"])
    for table in metadata.tables.values():
        for column in [column for column in table.columns if column.computed is not None]:
            table._columns.remove(column)  # the search of PostgreSQL
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type.none_as_null = True
    return metadata


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else value


def _typed(column: Column[Any], value: Any, engine: Engine) -> Any:
    if value is None:
        return None
    if isinstance(column.type, LargeBinary):
        return base64.b64decode(value)
    if isinstance(column.type, DateTime):
        at = datetime.fromisoformat(value)
        return at if engine.dialect.name == "sqlite" else f"{at.isoformat()}+00:00"
    return value

"""The manifest of a backup, and the numbering of rows that a backup continues."""

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict
from sqlalchemy import Connection, Table, text

from topkapi.app.db.base import Base

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

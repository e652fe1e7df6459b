"""The ids that tables have given out: one that was deleted before a backup stays used after it."""

from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, Table, text

from topkapi.app.db.base import Base


def last_ids(connection: Connection) -> dict[str, int]:
    """Return the highest id that each table ever gave."""
    return {table.name: _given(connection, table) for table in _numbered()}


def go_on_behind(connection: Connection, given: Mapping[str, int]) -> None:
    """Let every table number on behind its rows, and behind what it had ``given`` before."""
    for table in _numbered():
        stored = connection.scalar(text(f"SELECT MAX(id) FROM {table.name}")) or 0
        _advance(connection, table, max(stored, given[table.name]))


def _numbered() -> Iterator[Table]:
    return (table for table in Base.metadata.sorted_tables if "id" in table.columns)


def _given(connection: Connection, table: Table) -> int:
    if connection.dialect.name == "sqlite":
        statement = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
        return connection.scalar(statement, {"name": table.name}) or 0
    sequence = connection.scalar(text(f"SELECT pg_get_serial_sequence('{table.name}', 'id')"))
    of_last = text(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")
    return connection.scalar(of_last) or 0


def _advance(connection: Connection, table: Table, last: int) -> None:
    if connection.dialect.name == "sqlite":
        named = {"name": table.name, "last": last}
        connection.execute(text("DELETE FROM sqlite_sequence WHERE name = :name"), named)
        connection.execute(text("INSERT INTO sqlite_sequence VALUES (:name, :last)"), named)
    elif last:
        sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
        connection.execute(text(f"SELECT setval({sequence}, :last)"), {"last": last})

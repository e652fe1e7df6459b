"""Writing a backup from one snapshot of the database, without blocking writers."""

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile

from sqlalchemy import Connection, Engine, LargeBinary, Table, select

from topkapi.app.db.base import Base
from topkapi.app.db.engine import READ_ONLY
from topkapi.app.db.row_files import write_rows
from topkapi.app.services.backups.archive import MANIFEST, Manifest, last_ids

SYNC_BYTES = 4 * 1024**2
_ROWS = 500
_LEVEL = 1  # fast: the snapshot is held while compressing, and the CPU has other work
_PAGES = 16  # rows per fetch where a row contains a page, which can be large


class _Steady(io.FileIO):
    """A file that is synced to disk as it is written.

    A single sync at the end would keep the disk busy with a gigabyte while an answer waits for its
    fsync.
    """

    _unsynced = 0

    def write(self, data: Any) -> int:
        """Write ``data``; sync to disk every few megabytes."""
        count = super().write(data)
        self._unsynced += count
        if self._unsynced >= SYNC_BYTES:
            os.fsync(self.fileno())
            self._unsynced = 0
        return count


@contextmanager
def private_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file (mode 0600) that is renamed to ``path`` when it is complete."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        raw = _Steady(partial, "x", opener=lambda name, flags: os.open(name, flags, 0o600))
        with io.BufferedWriter(raw, 1024**2) as stream:
            yield stream
            stream.flush()
            os.fsync(raw.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_backup(engine: Engine, revision: str, path: Path) -> dict[str, int]:
    """Write every table to ``path`` and return the number of rows per table.

    No partial file is left after an error.
    """
    with (
        _snapshot(engine).connect() as connection,
        private_file(path) as stream,
        ZipFile(stream, "w", ZIP_DEFLATED, compresslevel=_LEVEL) as archive,
    ):
        rows: dict[str, int] = {}
        sha256: dict[str, str] = {}
        for table in Base.metadata.sorted_tables:
            lines = _rows(connection, table)
            rows[table.name], sha256[table.name] = write_rows(archive, table.name, lines)
        manifest = Manifest(
            revision=revision, rows=rows, sha256=sha256, last_ids=last_ids(connection)
        )
        archive.writestr(MANIFEST, manifest.model_dump_json(indent=1))
    return rows


def _snapshot(engine: Engine) -> Engine:
    """Return an engine for read-only snapshot transactions that block no writer."""
    reading = engine.execution_options(**READ_ONLY)
    if engine.dialect.name == "postgresql":
        return reading.execution_options(isolation_level="REPEATABLE READ")
    return reading  # in WAL mode, a read transaction of SQLite is a snapshot anyway


def _rows(connection: Connection, table: Table) -> Iterator[Mapping[Any, Any]]:
    has_pages = any(isinstance(column.type, LargeBinary) for column in table.columns)
    options = {"yield_per": _PAGES if has_pages else _ROWS}
    statement = select(table).order_by(*table.primary_key.columns)
    yield from connection.execute(statement, execution_options=options).mappings()

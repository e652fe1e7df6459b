"""Restoring a backup into an empty database: in batches, all or nothing."""

import json
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from sqlalchemy import Connection, Engine, Table, func, insert, select
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.base import Base
from topkapi.app.db.row_files import DAMAGE, read_rows, row_of
from topkapi.app.db.search import index_documents
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services.backups.archive import FORMAT, MANIFEST, Manifest, continue_numbering


def read_backup(engine: Engine, revision: str, path: Path) -> dict[str, int]:
    """Fill the empty database from ``path`` and return the number of rows per table."""
    with path.open("rb") as stream:
        try:
            with ZipFile(stream) as archive, engine.begin() as connection:
                manifest = _manifest(archive, revision, path)
                _refuse_unless_empty(connection)
                for table in Base.metadata.sorted_tables:
                    _read_table(connection, table, archive, manifest)
                with Session(connection) as session:
                    index_documents(session)
                continue_numbering(connection, manifest.last_ids)
        except DAMAGE as error:
            raise _damaged(path, str(error)) from error
    return manifest.rows


def _damaged(path: Path, why: str) -> Invalid:
    return Invalid(f"{path} is not a backup of Topkapi, or is damaged: {why}")


def _manifest(archive: ZipFile, revision: str, path: Path) -> Manifest:
    for info in archive.infolist():
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BadZipFile(f"{info.filename} uses a compression method that backups do not use")
    if MANIFEST not in archive.namelist() and "copy.json" in archive.namelist():
        raise Invalid(
            f"{path} is the full copy of one study, not a backup: read it with "
            f"topkapi study import {path}"
        )
    manifest = json.loads(archive.read(MANIFEST))
    advice = "restore it with the version that wrote it, then upgrade."
    if manifest["format"] != FORMAT:
        raise Invalid(
            f"{path} has format {manifest['format']}, but this version reads {FORMAT}: {advice}"
        )
    if manifest["revision"] != revision:
        raise Invalid(
            f"{path} was made at migration {manifest['revision']}, but this version is at "
            f"{revision}: {advice}"
        )
    return Manifest.model_validate(manifest)


def _refuse_unless_empty(connection: Connection) -> None:
    for table in Base.metadata.sorted_tables:
        if connection.scalar(select(func.count()).select_from(table)):
            raise Conflict(
                f"The database is not empty: {table.name} has rows. Nothing was written; "
                "restore into an empty database."
            )


def _read_table(connection: Connection, table: Table, archive: ZipFile, manifest: Manifest) -> None:
    """Insert the rows of a table, checked against the manifest."""
    name, last = table.name, 0
    rows, sha256 = manifest.rows[name], manifest.sha256[name]
    for batch in read_rows(archive, name, partial(row_of, table), rows, sha256):
        first, last = last + 1, last + len(batch)
        try:
            connection.execute(insert(table), batch)
        except (DataError, IntegrityError) as error:
            lines = f"{name}, lines {first} to {last}"
            raise ValueError(f"{lines}: the database rejects them: {error.orig}") from error

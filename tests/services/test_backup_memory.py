"""Backup and restore work in batches: memory does not grow with the database."""

import os
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert

from tests.memory import peak_of
from tests.services.test_backups import other
from topkapi.app.db import migrations
from topkapi.app.db.models import Content
from topkapi.app.db.models.document import content_hash as hash_of
from topkapi.app.services.backups import read_backup, write_backup
from topkapi.app.services.importing.records.contents import content_row

pytestmark = pytest.mark.both

__all__ = ["other"]  # a fixture
HEAD = migrations.head_revision()
PAGES, BYTES = 150, 200_000
BOUND = 18_000_000  # of 30 MB of pages, which are 40 MB in base64


def test_memory_is_bounded_both_ways(engine: Engine, other: Engine, tmp_path: Path) -> None:
    path, kind = tmp_path / "backup.zip", "image/png"
    with engine.begin() as connection:
        for _ in range(PAGES):
            data = os.urandom(16) * (BYTES // 16)
            row = content_row(kind, data, hash_of(kind, data))
            connection.execute(insert(Content), row)
    assert peak_of(lambda: write_backup(engine, HEAD, path)) < BOUND
    assert peak_of(lambda: read_backup(other, HEAD, path)) < BOUND

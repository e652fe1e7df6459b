"""The PostgreSQL that the suite starts itself."""

import fcntl
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.databases import PostgresqlServer, one_at_a_time


def test_servers_are_started_one_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a new machine starting one also creates a system user, which must happen once."""
    started: list[Path] = []

    def start(folder: Path) -> SimpleNamespace:
        monkeypatch.setattr(fcntl, "LOCK_EX", fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails, does not wait
        with pytest.raises(BlockingIOError), one_at_a_time():
            pass
        started.append(folder)
        return SimpleNamespace(get_uri=lambda: "postgresql:///")

    monkeypatch.setattr("tests.databases.start_cluster", start)
    monkeypatch.setattr("tests.databases.quick_root", lambda: tmp_path)
    PostgresqlServer()
    assert len(started) == 1

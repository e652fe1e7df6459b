"""The PostgreSQL that the suite starts itself."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.databases import PostgresqlServer


def test_servers_are_started_one_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a new machine starting one also creates a system user, which must happen once."""
    starting = threading.Lock()
    overlapping = threading.Event()
    together = threading.Barrier(3)

    def start(_: Path) -> SimpleNamespace:
        if not starting.acquire(blocking=False):
            overlapping.set()
            return SimpleNamespace(get_uri=lambda: "postgresql:///")
        overlapping.wait(0.05)
        starting.release()
        return SimpleNamespace(get_uri=lambda: "postgresql:///")

    def make(_: int) -> None:
        together.wait()
        PostgresqlServer()

    monkeypatch.setattr("tests.databases.start_cluster", start)
    monkeypatch.setattr("tests.databases.quick_root", lambda: tmp_path)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(make, range(3)))
    assert not overlapping.is_set()

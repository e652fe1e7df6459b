from pathlib import Path

import httpx
from fastapi import FastAPI

from tests.clients import open_client
from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.main import create_app


def test_up_and_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "up"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_not_ready_before_the_migration(client: httpx.Client, database_url: str) -> None:
    migrations.downgrade(database_url, "base")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "the database is not migrated")
    assert client.get("/healthz").status_code == 200


def test_not_ready_without_a_database(tmp_path: Path) -> None:
    settings = Settings(
        database_url="postgresql://nobody@127.0.0.1:1/none",
        secret_file=tmp_path / "secret",
        _env_file=None,
    )
    app: FastAPI = create_app(settings)
    with open_client(app) as client:
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200

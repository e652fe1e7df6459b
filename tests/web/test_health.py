from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from sqlalchemy import update

from tests.cases import each_case
from tests.clients import open_client
from tests.factories import make_study
from topkapi.app.config import Settings
from topkapi.app.db import migrations
from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions
from topkapi.app.db.models import Job
from topkapi.app.db.queries.jobs import LONGEST_LEASE
from topkapi.app.main import create_app
from topkapi.app.services.jobs import store


def test_up_and_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "up"}
    answer = client.get("/readyz").json()
    assert (answer["status"], answer["jobs"]["state"]) == ("ready", "idle")


@pytest.mark.thorough
@each_case(
    "path", ["/healthz", "/readyz", "/sign-in", "/", "/api/v1/openapi.json", "/static/css/app.css"]
)
def test_head_is_answered_as_get_without_the_body(client: httpx.Client, path: str) -> None:
    whole, head = client.get(path), client.head(path)
    assert head.status_code == whole.status_code != 405
    assert head.headers.get("content-length") == whole.headers.get("content-length")
    assert head.headers.get("content-type") == whole.headers.get("content-type")
    assert not head.content


def test_head_is_refused_where_there_is_no_get(client: httpx.Client) -> None:
    assert client.head("/sign-out").status_code == client.get("/sign-out").status_code == 405


@pytest.mark.both
def test_jobs_that_no_worker_takes_are_reported_but_do_not_make_the_server_unready(
    client: httpx.Client, sessions: Sessions
) -> None:
    def jobs() -> dict[str, object]:
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (200, "ready")
        found: dict[str, object] = answer.json()["jobs"]
        return found

    def change(**values: object) -> None:
        with sessions.write.begin() as session:
            session.execute(update(Job).values(**values))

    with sessions.write.begin() as session:
        store.queue_job(session, make_study(session), "models", {})
    assert (jobs()["state"], jobs()["waiting"]) == ("working", 1)
    change(created_at=now() - timedelta(minutes=5))
    found = jobs()
    assert (found["state"], found["waiting"], found["running"]) == ("stalled", 1, 0)
    assert int(str(found["waiting_seconds"])) >= 300
    with sessions.write.begin() as session:
        assert store.take_job(session, "one", LONGEST_LEASE) is not None
    assert jobs() == {
        **{"state": "working", "waiting": 0, "waiting_seconds": 0, "running": 1, "restarted": 0}
    }
    with sessions.write.begin() as session:
        store.expire_leases(session, "one")  # as a worker does that replaces a killed one
    assert (jobs()["state"], jobs()["waiting"]) == ("working", 1)
    with sessions.write.begin() as session:
        assert store.take_job(session, "one", LONGEST_LEASE) is not None
    assert (jobs()["running"], jobs()["restarted"]) == (1, 1)
    change(started_at=now() - timedelta(minutes=9), lease_until=now() - timedelta(minutes=2))
    assert (jobs()["state"], jobs()["waiting"]) == ("stalled", 1)


@pytest.mark.thorough
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

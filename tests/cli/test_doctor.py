"""`topkapi doctor` finds faults that were made on purpose, and says what to do about each."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from tests.commands import Command
from tests.databases import transaction_on
from tests.exporting import judge
from tests.factories import make_assignment, make_study, make_user, queries_of
from topkapi.app.db.base import now
from topkapi.app.db.models import JudgmentRow, User
from topkapi.app.domain.enums import Role
from topkapi.app.installation.secret import load_secret
from topkapi.app.services.jobs import store

Break = Callable[[pytest.MonkeyPatch, str, Path], object]


@pytest.fixture
def healthy(
    sqlite_url: str, sqlite_folder_of_commands: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.setattr("topkapi.app.cli.doctor._LEAST_FREE", 1)
    load_secret(sqlite_folder_of_commands / "topkapi.secret")
    with_rows(sqlite_url, lambda session: make_user(session, role=Role.ADMIN))
    return sqlite_url


def with_rows(url: str, act: Callable[[Session], object]) -> None:
    with transaction_on(url) as session:
        act(session)


def at_migration(url: str, name: str) -> None:
    sql = f"UPDATE alembic_version SET version_num = '{name}'"
    with_rows(url, lambda session: session.connection().exec_driver_sql(sql))


def stall(url: str) -> None:
    def queue(session: Session) -> None:
        job = store.queue_job(session, make_study(session), "models", {})
        job.created_at = now() - timedelta(hours=1)

    with_rows(url, queue)


def answer_tomorrow(url: str) -> None:
    def act(session: Session) -> None:
        query = queries_of(session, make_study(session))[0]
        judge(session, make_assignment(session, user=make_user(session), query=query))
        session.execute(update(JudgmentRow).values(created_at=now() + timedelta(days=1)))

    with_rows(url, act)


def swap_schemes(patch: pytest.MonkeyPatch) -> None:
    patch.setenv("TOPKAPI_PUBLIC_URL", "http://a.example")
    patch.setenv("TOPKAPI_SECURE_COOKIES", "true")


FAULTS: dict[str, tuple[str, str, Break]] = {
    "a misspelt setting": (
        "settings",
        "did you mean TOPKAPI_SECURE_COOKIES",
        lambda patch, _url, _folder: patch.setenv("TOPKAPI_SECURE_COOKIE", "true"),
    ),
    "a missing asset": (
        "files",
        "reinstall Topkapi",
        lambda patch, _url, _folder: patch.setattr(
            "topkapi.app.installation.assets.FETCHED", ("vendor/x.js",)
        ),
    ),
    "no database": (
        "database",
        "topkapi serve",
        lambda patch, _url, folder: patch.setenv(
            "TOPKAPI_DATABASE_URL", f"sqlite:///{folder}/none.db"
        ),
    ),
    "an old database": (
        "database",
        "topkapi db upgrade",
        lambda _patch, url, _folder: at_migration(url, "0001"),
    ),
    "a database of a newer version": (
        "database",
        "use the newer Topkapi",
        lambda _patch, url, _folder: at_migration(url, "9999"),
    ),
    "a secret that others can read": (
        "secret",
        "chmod 600",
        lambda _patch, _url, folder: (folder / "topkapi.secret").chmod(0o644),
    ),
    "a secret that is too short": (
        "secret",
        "delete it",
        lambda _patch, _url, folder: (folder / "topkapi.secret").write_text("x"),
    ),
    "https without secure cookies": (
        "addresses",
        "TOPKAPI_SECURE_COOKIES=true",
        lambda patch, _url, _folder: patch.setenv("TOPKAPI_PUBLIC_URL", "https://a.example"),
    ),
    "secure cookies without https": (
        "addresses",
        "TOPKAPI_PUBLIC_URL",
        lambda patch, _url, _folder: swap_schemes(patch),
    ),
    "links without a host": (
        "addresses",
        "TOPKAPI_PUBLIC_URL",
        lambda patch, _url, _folder: patch.setenv("TOPKAPI_HOST", "0.0.0.0"),
    ),
    "no administrator": (
        "accounts",
        "topkapi users add",
        lambda _patch, url, _folder: with_rows(url, lambda session: session.execute(delete(User))),
    ),
    "no worker": ("jobs", "start topkapi work", lambda _patch, url, _folder: stall(url)),
    "a full disk": (
        "disk",
        "make room",
        lambda patch, _url, _folder: patch.setattr("topkapi.app.cli.doctor._LEAST_FREE", 2**80),
    ),
    "a clock that is behind": (
        "clock",
        "synchronise it",
        lambda _patch, url, _folder: answer_tomorrow(url),
    ),
}


@pytest.mark.usefixtures("healthy")
def test_a_sound_installation_has_no_problem(topkapi: Command) -> None:
    out = topkapi.done("doctor")
    assert {line.split()[0] for line in out.splitlines()} <= {"ok", "note"}
    assert [line.split()[1] for line in out.splitlines()] == [
        *("files", "settings", "secret", "addresses", "disk", "database", "accounts", "clock"),
        *("jobs", "extras"),
    ]


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_with_what_to_do(
    healthy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, topkapi: Command, fault: str
) -> None:
    check, advice, break_it = FAULTS[fault]
    break_it(monkeypatch, healthy, tmp_path)
    code, out, _ = topkapi("doctor", "--json")
    assert code == 1
    found = [each for each in json.loads(out) if each["state"] == "problem"]
    problems = {each["check"]: each["message"] for each in found}
    assert list(problems) == [check]
    assert advice in problems[check]
    assert not (tmp_path / "none.db").exists()

import io
import os
import sys
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import make_url, select, text

from tests.commands import Command
from tests.databases import transaction_on
from topkapi.app.cli import COMMANDS
from topkapi.app.db import migrations
from topkapi.app.db.base import now
from topkapi.app.db.models import AuditEvent, User
from topkapi.app.services.accounts import passwords, tokens


@pytest.fixture
def database(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Point the commands at this database, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    monkeypatch.setenv("TOPKAPI_NEW_PASSWORD", "a long enough password")
    return database_url


def test_help_lists_every_command_without_loading_them(topkapi: Command) -> None:
    before = set(sys.modules)
    shown = topkapi.done("--help")
    for name in COMMANDS:
        assert f"  {name} " in shown
    assert not {f"topkapi.app.cli.{name}" for name in COMMANDS} & (set(sys.modules) - before)


@pytest.mark.parametrize("chosen", [None, "4"])
def test_linear_algebra_has_one_thread_unless_more_are_chosen(
    topkapi: Command, monkeypatch: pytest.MonkeyPatch, chosen: str | None
) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", chosen or "")
    if chosen is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    topkapi.done("--version")
    assert os.environ["OPENBLAS_NUM_THREADS"] == (chosen or "1")


@pytest.mark.parametrize(
    "arguments",
    [
        *(("serve",), ("db", "upgrade"), ("db", "check"), ("users", "add"), ("users", "token")),
        *(("study", "import"), ("study", "list"), ("demo",)),
    ],
)
def test_every_help_has_an_example(topkapi: Command, arguments: tuple[str, ...]) -> None:
    assert "Example: " in topkapi.done(*arguments, "--help")


@pytest.mark.parametrize(
    "arguments",
    [
        "study list",
        "study progress garden",
        "users list",
        "users token ansa@lehto.example",
        "export garden qrels",
        "report garden",
        "systems list garden",
        "backup all.zip",
        "db check",
        "db downgrade base --yes",
    ],
)
def test_a_command_that_needs_a_database_creates_none(
    topkapi: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = topkapi.refused(*arguments.split())
    assert f"there is no database {tmp_path / 'topkapi.db'}: " in said
    assert "TOPKAPI_DATABASE_URL" in said
    assert not list(tmp_path.iterdir())


def test_what_is_not_found_is_reported_with_the_database(topkapi: Command, database: str) -> None:
    named = make_url(database)
    for arguments in (("study", "progress", "none"), ("users", "disable", "no@one.example")):
        said = topkapi.refused(*arguments)
        assert f"The database is {named.database}." in said or f"@{named.host}" in said
        assert not named.password or named.password not in said


def test_people_are_added_listed_and_disabled(topkapi: Command, database: str) -> None:
    added = topkapi.told("users", "add", "Ansa@Lehto.example", "--name", "Ansa Lehto")
    assert added["email"] == "ansa@lehto.example"
    assert "ansa@lehto.example disabled" in topkapi.done("users", "disable", "ansa@lehto.example")
    (listed,) = topkapi.told("users", "list")
    assert (listed["role"], listed["state"]) == ("assessor", "disabled")
    heads, row = topkapi.done("users", "list").splitlines()
    assert heads.split() == ["e-mail", "role", "state", "name"]
    assert row.endswith("Ansa Lehto")
    assert row.index("Ansa Lehto") == heads.index("name")
    with transaction_on(database) as session:
        stored = session.scalars(select(User)).one()
        assert passwords.matches(stored.password_hash, "a long enough password")
        acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    assert acts == ["user.create", "user.disable"]


def test_a_token_is_printed_once(topkapi: Command, database: str) -> None:
    topkapi("users", "add", "a@b.example", "--name", "A", "--role", "admin")
    plain = topkapi.done("users", "token", "a@b.example").strip()
    with transaction_on(database) as session:
        assert tokens.owner_of(session, plain).user.email == "a@b.example"
    made = topkapi.told("users", "token", "a@b.example", "--scope", "read")
    assert made["scope"] == "read"
    assert (datetime.fromisoformat(made["expires_at"]) - now()).days == 364
    assert "greater than or equal to 0" in topkapi.refused(
        "users", "token", "x", "--days", "-1", code=2
    )


def test_somebody_who_lost_the_app_signs_in_without_codes(topkapi: Command, database: str) -> None:
    topkapi("users", "add", "a@b.example", "--name", "A", "--role", "admin")
    with transaction_on(database) as session:
        session.scalars(select(User)).one().totp_salt = "a salt of 22 letters.."
    assert topkapi.told("users", "list")[0]["totp"] is True
    assert topkapi.told("users", "reset-totp", "a@b.example")["totp"] is False


@pytest.mark.usefixtures("database")
def test_a_password_can_be_piped(topkapi: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOPKAPI_NEW_PASSWORD")
    monkeypatch.setattr("sys.stdin", io.StringIO("a piped long password\n"))
    assert topkapi("users", "add", "a@b.example", "--name", "A")[0] == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "no password" in topkapi.refused("users", "password", "a@b.example")


@pytest.mark.usefixtures("database")
def test_refusals_are_one_line_and_not_success(
    topkapi: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no account for x@y.example" in topkapi.refused("users", "disable", "X@y.example")
    assert "'king' is not one of" in topkapi.refused(
        "users", "add", "a@b.example", "--name", "A", "--role", "king", code=2
    )
    assert "No such command" in topkapi.refused("nonsense", code=2)
    assert "Missing command" in topkapi.refused("users", code=2)
    monkeypatch.setenv("TOPKAPI_NEW_PASSWORD", "short")
    assert "at least 10" in topkapi.refused("users", "add", "a@b.example", "--name", "A")
    monkeypatch.setenv("TOPKAPI_PORT", "many")
    assert "TOPKAPI_PORT" in topkapi.refused("users", "list")


def test_wrong_databases_are_explained(topkapi: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "the database refused" in topkapi.refused("users", "list")
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", "oracle://x")
    assert "the database 'oracle' is not supported" in topkapi.refused("users", "list")


@pytest.mark.usefixtures("database")
def test_an_unforeseen_error_is_one_line_too(
    topkapi: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("topkapi.app.db.migrations.revisions", fail)
    assert "unexpected RuntimeError: two lines" in topkapi.refused("users", "list")


@pytest.mark.thorough
def test_the_database_is_migrated_and_checked(
    topkapi: Command, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", empty_database_url)
    assert topkapi("db", "check")[0] == 1
    head = migrations.head_revision()
    assert topkapi.told("db", "upgrade") == {"current": head, "head": head}
    assert "up to date" in topkapi.done("db", "check")
    assert "--yes" in topkapi.refused("db", "downgrade", "base")
    assert "at none" in topkapi.done("db", "downgrade", "base", "--yes")
    assert "no such migration" in topkapi.refused("db", "upgrade", "nonsense")


@pytest.mark.thorough
def test_only_sqlite_is_migrated_unasked(
    topkapi: Command, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", empty_database_url)
    if empty_database_url.startswith("sqlite"):
        Path(make_url(empty_database_url).database or "").touch()
        assert topkapi.done("users", "list") == "no accounts yet\n"
    else:
        assert "run topkapi db upgrade" in topkapi.refused("users", "list")


def test_a_database_of_a_newer_version_is_left_alone(topkapi: Command, database: str) -> None:
    with transaction_on(database) as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    assert "newer version of Topkapi" in topkapi.refused("users", "list")


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["Ansa\0", "Ansa\udcff"])
def test_a_name_that_no_database_stores_is_refused(topkapi: Command, name: str) -> None:
    output = topkapi.refused("users", "add", "ansa@lehto.example", "--name", name)
    assert "contains the character U+" in output

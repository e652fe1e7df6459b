import io
import json
import sys
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import make_url, select

from topkapi.app.cli import COMMANDS, main
from topkapi.app.db import migrations
from topkapi.app.db.base import now
from topkapi.app.db.engine import make_engine, make_sessions
from topkapi.app.db.models import AuditEvent, User
from topkapi.app.services.accounts import passwords, tokens


@pytest.fixture
def database(database_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """Point the commands at this database, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", database_url)
    monkeypatch.setenv("TOPKAPI_NEW_PASSWORD", "a long enough password")
    return database_url


class Outcome:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> "Runner":
    return Runner(capsys)


class Runner:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Outcome:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        captured = self._capsys.readouterr()
        assert isinstance(end.value.code, int)
        return Outcome(end.value.code, captured.out, captured.err)

    def refused(self, *arguments: str, code: int = 1) -> str:
        outcome = self(*arguments)
        assert outcome.code == code
        assert outcome.out == ""
        assert outcome.err.startswith("topkapi: ")
        assert outcome.err.count("\n") == 1
        return outcome.err


def test_help_lists_every_command_without_loading_them(run: Runner) -> None:
    before = set(sys.modules)
    shown = run("--help")
    assert shown.code == 0
    for name in COMMANDS:
        assert f"  {name} " in shown.out
    assert not {f"topkapi.app.cli.{name}" for name in COMMANDS} & (set(sys.modules) - before)


@pytest.mark.parametrize(
    "arguments",
    [
        *(("serve",), ("db", "upgrade"), ("db", "check"), ("users", "add"), ("users", "token")),
        *(("study", "import"), ("study", "list"), ("demo",)),
    ],
)
def test_every_help_has_an_example(run: Runner, arguments: tuple[str, ...]) -> None:
    shown = run(*arguments, "--help")
    assert shown.code == 0
    assert "Example: " in shown.out


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
    run: Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: str
) -> None:
    monkeypatch.chdir(tmp_path)
    said = run.refused(*arguments.split())
    assert f"there is no database {tmp_path / 'topkapi.db'}: " in said
    assert "TOPKAPI_DATABASE_URL" in said
    assert not list(tmp_path.iterdir())


def test_what_is_not_found_is_reported_with_the_database(run: Runner, database: str) -> None:
    named = make_url(database)
    for arguments in (("study", "progress", "none"), ("users", "disable", "no@one.example")):
        said = run.refused(*arguments)
        assert f"The database is {named.database}." in said or f"@{named.host}" in said
        assert not named.password or named.password not in said


def test_people_are_added_listed_and_disabled(run: Runner, database: str) -> None:
    added = run("users", "add", "Ansa@Lehto.example", "--name", "Ansa Lehto", "--json")
    assert added.code == 0
    assert json.loads(added.out)["email"] == "ansa@lehto.example"
    assert "ansa@lehto.example disabled" in run("users", "disable", "ansa@lehto.example").out
    (listed,) = json.loads(run("users", "list", "--json").out)
    assert (listed["role"], listed["state"]) == ("assessor", "disabled")
    heads, row = run("users", "list").out.splitlines()
    assert heads.split() == ["e-mail", "role", "state", "name"]
    assert row.endswith("Ansa Lehto")
    assert row.index("Ansa Lehto") == heads.index("name")
    engine = make_engine(database)
    with make_sessions(engine).read() as session:
        stored = session.scalars(select(User)).one()
        assert passwords.matches(stored.password_hash, "a long enough password")
        acts = session.scalars(select(AuditEvent.action).order_by(AuditEvent.id)).all()
    engine.dispose()
    assert acts == ["user.create", "user.disable"]


def test_a_token_is_printed_once(run: Runner, database: str) -> None:
    run("users", "add", "a@b.example", "--name", "A", "--role", "admin")
    plain = run("users", "token", "a@b.example").out.strip()
    engine = make_engine(database)
    with make_sessions(engine).read() as session:
        assert tokens.owner_of(session, plain).user.email == "a@b.example"
    engine.dispose()
    made = json.loads(run("users", "token", "a@b.example", "--scope", "read", "--json").out)
    assert made["scope"] == "read"
    assert (datetime.fromisoformat(made["expires_at"]) - now()).days == 364
    assert "greater than or equal to 0" in run.refused(
        "users", "token", "x", "--days", "-1", code=2
    )


def test_somebody_who_lost_the_app_signs_in_without_codes(run: Runner, database: str) -> None:
    run("users", "add", "a@b.example", "--name", "A", "--role", "admin")
    engine = make_engine(database)
    with make_sessions(engine).write.begin() as session:
        session.scalars(select(User)).one().totp_salt = "a salt of 22 letters.."
    engine.dispose()
    assert json.loads(run("users", "list", "--json").out)[0]["totp"] is True
    assert json.loads(run("users", "reset-totp", "a@b.example", "--json").out)["totp"] is False


@pytest.mark.usefixtures("database")
def test_a_password_can_be_piped(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOPKAPI_NEW_PASSWORD")
    monkeypatch.setattr("sys.stdin", io.StringIO("a piped long password\n"))
    assert run("users", "add", "a@b.example", "--name", "A").code == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert "no password" in run.refused("users", "password", "a@b.example")


@pytest.mark.usefixtures("database")
def test_refusals_are_one_line_and_not_success(
    run: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no account for x@y.example" in run.refused("users", "disable", "X@y.example")
    assert "'king' is not one of" in run.refused(
        "users", "add", "a@b.example", "--name", "A", "--role", "king", code=2
    )
    assert "No such command" in run.refused("nonsense", code=2)
    assert "Missing command" in run.refused("users", code=2)
    monkeypatch.setenv("TOPKAPI_NEW_PASSWORD", "short")
    assert "at least 10" in run.refused("users", "add", "a@b.example", "--name", "A")
    monkeypatch.setenv("TOPKAPI_PORT", "many")
    assert "TOPKAPI_PORT" in run.refused("users", "list")


def test_wrong_databases_are_explained(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "the database refused" in run.refused("users", "list")
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", "oracle://x")
    assert "the database 'oracle' is not supported" in run.refused("users", "list")


@pytest.mark.usefixtures("database")
def test_an_unforeseen_error_is_one_line_too(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr("topkapi.app.db.migrations.revisions", fail)
    assert "unexpected RuntimeError: two lines" in run.refused("users", "list")


@pytest.mark.thorough
def test_the_database_is_migrated_and_checked(
    run: Runner, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", empty_database_url)
    assert run("db", "check").code == 1
    head = migrations.head_revision()
    assert json.loads(run("db", "upgrade", "--json").out) == {"current": head, "head": head}
    assert "up to date" in run("db", "check").out
    assert "--yes" in run.refused("db", "downgrade", "base")
    assert "at none" in run("db", "downgrade", "base", "--yes").out
    assert "no such migration" in run.refused("db", "upgrade", "nonsense")


@pytest.mark.thorough
def test_only_sqlite_is_migrated_unasked(
    run: Runner, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOPKAPI_DATABASE_URL", empty_database_url)
    if empty_database_url.startswith("sqlite"):
        Path(make_url(empty_database_url).database or "").touch()
        assert run("users", "list").out == "no accounts yet\n"
    else:
        assert "run topkapi db upgrade" in run.refused("users", "list")


def test_a_database_of_a_newer_version_is_left_alone(run: Runner, database: str) -> None:
    engine = make_engine(database)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine.dispose()
    assert "newer version of Topkapi" in run.refused("users", "list")


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("name", ["Ansa\0", "Ansa\udcff"])
def test_a_name_that_no_database_stores_is_refused(run: Runner, name: str) -> None:
    output = run.refused("users", "add", "ansa@lehto.example", "--name", name)
    assert "contains the character U+" in output

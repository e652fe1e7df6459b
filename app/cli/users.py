"""`topkapi users`: people and their tokens."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from csv import DictReader
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from topkapi.app.cli.common import AsJson, open_sessions, say, table
from topkapi.app.cli.failures import Refused
from topkapi.app.cli.running import RUNNING
from topkapi.app.domain.enums import MOST_TOKEN_DAYS, TOKEN_DAYS, Role, Scope
from topkapi.app.domain.errors import AppError

if TYPE_CHECKING or RUNNING:
    from sqlalchemy.orm import Session

    from topkapi.analysis.data.exports.cells import csv_text
    from topkapi.app.config import Settings
    from topkapi.app.db.models import User
    from topkapi.app.db.queries.accounts.accounts import all_users, user_by_email
    from topkapi.app.services.accounts import invitations, tokens
    from topkapi.app.services.accounts import users as accounts
    from topkapi.app.services.accounts.erasing import erase_user, truncate_log
    from topkapi.app.services.accounts.own_data import own_data
    from topkapi.app.services.accounts.totp import turn_off

commands = typer.Typer()

Email = Annotated[str, typer.Argument(help="E-mail address of the person.")]


@commands.command(
    epilog="Example: topkapi users add ansa@lehto.example --name 'Ansa Lehto' --role assessor"
)
def add(
    email: Email,
    name: Annotated[str, typer.Option(help="Full name, as others see it.")],
    role: Annotated[Role, typer.Option(help="What the person may do.")] = Role.ASSESSOR,
    as_json: AsJson = False,
) -> None:
    """Create an account. The password is prompted for, or read from TOPKAPI_NEW_PASSWORD or a
    pipe.
    """
    chosen = _new_password()
    with open_sessions(create=True) as sessions, sessions.write.begin() as session:
        user = accounts.create_user(session, email=email, name=name, role=role, password=chosen)
    say(as_json, _facts(user), f"{user.email} added as {user.role}")


@commands.command("list", epilog="Example: topkapi users list --json")
def list_users(as_json: AsJson = False) -> None:
    """List everyone, with role and state."""
    with open_sessions() as sessions, sessions.read() as session:
        users = all_users(session)
    rows = [(user.email, user.role, _state(user), user.name) for user in users]
    text = table(("e-mail", "role", "state", "name"), rows) if rows else "no accounts yet"
    say(as_json, [_facts(user) for user in users], text)


@commands.command(epilog="Example: topkapi users disable ansa@lehto.example")
def disable(email: Email, as_json: AsJson = False) -> None:
    """Disable an account: refuse sign-ins, end sessions, revoke tokens (answers are kept)."""
    _change(email, accounts.disable_user, "disabled", as_json)


@commands.command(epilog="Example: topkapi users erase ansa@lehto.example --yes")
def erase(
    email: Email,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="Also blank notes and flags.")] = False,
    as_json: AsJson = False,
) -> None:
    """Permanently replace name and e-mail with a pseudonym (judgments are kept)."""
    if not yes:
        typer.confirm(f"Erase {email} for good?", abort=True)
    with open_sessions() as sessions:
        with sessions.write.begin() as session:
            user = accounts.user_of_email(session, email)
            erase_user(session, user, notes=notes)
        truncate_log(sessions)
    say(as_json, _facts(user), f"erased; the judgments now belong to {user.email}")


@commands.command(epilog="Example: topkapi users password ansa@lehto.example")
def password(email: Email, as_json: AsJson = False) -> None:
    """Set a new password, end every session, revoke tokens."""
    change = partial(accounts.set_password, password=_new_password())
    _change(email, change, "has a new password", as_json)


@commands.command(epilog="Example: topkapi users reset-totp maren@oduya.example")
def reset_totp(email: Email, as_json: AsJson = False) -> None:
    """Turn off one-time codes for a person who lost the authenticator app."""
    _change(email, turn_off, "now signs in without one-time codes", as_json)


@commands.command(epilog="Example: topkapi users unlink ansa@lehto.example")
def unlink(email: Email, as_json: AsJson = False) -> None:
    """Unlink an account from the OpenID provider; the next sign-in links it again."""
    done = "is no longer linked to an OpenID provider"
    _change(email, accounts.unlink_openid, done, as_json)


def _change(
    email: str, change: Callable[[Session, User], object], done: str, as_json: bool
) -> None:
    """Change the account of a person, and print what was ``done``."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        user = accounts.user_of_email(session, email)
        change(session, user)
    say(as_json, _facts(user), f"{user.email} {done}")


@commands.command(
    epilog="Examples: topkapi users invite ansa@lehto.example --name 'Ansa Lehto'; "
    "topkapi users invite --csv people.csv > links.csv"
)
def invite(
    email: Annotated[
        str | None, typer.Argument(help="E-mail address of the person; or use --csv.")
    ] = None,
    name: Annotated[str, typer.Option(help="Full name; not needed for an existing account.")] = "",
    csv: Annotated[
        Path | None,
        typer.Option(help="CSV file with the columns email and name; invites everyone or no one."),
    ] = None,
    role: Annotated[Role, typer.Option(help="What new people may do.")] = Role.ASSESSOR,
    base_url: Annotated[
        str, typer.Option(help="Public address of this server.", metavar="URL")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Create a one-time link to set a password, and the account if it does not exist."""
    if (email is None) == (csv is None):
        raise Refused("give either an e-mail address or a file with --csv")
    settings = Settings()
    base = (base_url or settings.public_url or f"http://localhost:{settings.port}").rstrip("/")
    with open_sessions(settings, create=True) as sessions, sessions.write.begin() as session:
        if email is not None:
            facts = _invited(session, email, name, role, base)
            say(as_json, facts, facts["url"])
            return
        made = [_from_file(session, csv, *row, role, base) for row in _people_in(csv)]
    rows = [
        ("email", "name", "url"),
        *((each["email"], each["name"], each["url"]) for each in made),
    ]
    say(as_json, made, csv_text(rows).rstrip())


def _invited(session: Session, email: str, name: str, role: Role, base: str) -> dict[str, Any]:
    """Return a person with a new one-time link; create the account if there is none."""
    user = user_by_email(session, email)
    if user is None:
        user, plain = invitations.invite(session, email=email, name=name, role=role)
    else:
        plain = invitations.new_link(session, user)
    return {**_facts(user), "url": f"{base}/invitations/{plain}"}


def _from_file(
    session: Session, path: Path | None, line: int, email: str, name: str, role: Role, base: str
) -> dict[str, Any]:
    try:
        return _invited(session, email, name, role, base)
    except AppError as error:
        raise Refused(f"{path}, line {line}: {error} No one was invited.") from None


def _people_in(path: Path | None) -> list[tuple[int, str, str]]:
    """Return line, e-mail address and name of each row of a CSV file."""
    assert path is not None
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = DictReader(stream)
            if "email" not in (reader.fieldnames or ()):
                raise Refused(f"{path}: the first line must name the columns email and name")
            return [
                (reader.line_num, (row["email"] or "").strip(), (row.get("name") or "").strip())
                for row in reader
            ]
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: {error}") from None


@commands.command(epilog="Example: topkapi users token ansa@lehto.example --name notebook")
def token(
    email: Email,
    name: Annotated[str, typer.Option(help="What the token is for.")] = "command line",
    scope: Annotated[Scope, typer.Option(help="What it allows.")] = Scope.WRITE,
    days: Annotated[
        int, typer.Option(min=0, max=MOST_TOKEN_DAYS, help="Days until it expires; 0 for never.")
    ] = TOKEN_DAYS,
    as_json: AsJson = False,
) -> None:
    """Create an API token. It is shown only once."""
    with open_sessions() as sessions, sessions.write.begin() as session:
        user = accounts.user_of_email(session, email)
        row, plain = tokens.issue_token(session, user, name, scope=scope, days=days)
        facts = {"id": row.id, "email": user.email, "name": row.name, "scope": row.scope}
    say(as_json, {**facts, "expires_at": row.expires_at, "token": plain}, plain)


@commands.command(epilog="Example: topkapi users data ansa@lehto.example --out ansa.json")
def data(
    email: Email,
    out: Annotated[
        Path | None, typer.Option(help="File to write; standard output if omitted.")
    ] = None,
) -> None:
    """Write all data stored about a person, as JSON."""
    with (
        open_sessions() as sessions,
        sessions.read() as session,
        nullcontext(sys.stdout) if out is None else out.open("w", encoding="utf-8") as file,
    ):
        file.writelines(own_data(session, accounts.user_of_email(session, email)))


def _new_password() -> str:
    """Read the password from the environment, a pipe or a prompt, never from a visible option."""
    given = os.environ.get("TOPKAPI_NEW_PASSWORD")
    if given is not None:
        return given
    if not sys.stdin.isatty():
        line = sys.stdin.readline().rstrip("\n")
        if not line:
            raise Refused(
                "no password: type it in a terminal, pipe it in, or set TOPKAPI_NEW_PASSWORD"
            )
        return line
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))


def _state(user: User) -> str:
    return "disabled" if user.disabled_at else "machine" if user.machine else "active"


def _facts(user: User) -> dict[str, Any]:
    return {
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "role": user.role.value,
        "state": _state(user),
        "demo": user.demo,
        "totp": user.totp_salt is not None,
    }

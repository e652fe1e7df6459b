"""`topkapi doctor`: look for what keeps a server from working, and say what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from topkapi.app.cli.common import AsJson, database_exists, say
from topkapi.app.cli.failures import explain
from topkapi.app.cli.running import RUNNING

if TYPE_CHECKING or RUNNING:
    from sqlalchemy import func, select
    from sqlalchemy.orm import Session

    from topkapi.app.config import Settings
    from topkapi.app.db import migrations
    from topkapi.app.db.base import now
    from topkapi.app.db.engine import make_sessions, normal_url, open_engine
    from topkapi.app.db.models import JudgmentRow, User
    from topkapi.app.db.replica import require_migrated
    from topkapi.app.domain.enums import Role
    from topkapi.app.domain.text.sizes import format_size
    from topkapi.app.installation.assets import require_assets
    from topkapi.app.installation.secret import load_secret
    from topkapi.app.services.jobs.store import queue_state
    from topkapi.extras import EXTRAS, install_command, is_installed

commands = typer.Typer()

_LEAST_FREE = 1024**3  # bytes; an import or a backup may need as much
_CLOCK = timedelta(minutes=2)  # by which clocks may differ


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check; ``message`` of a problem ends with what to do."""

    check: str
    state: Literal["ok", "note", "problem"]
    message: str


class _Problem(Exception):
    """A check found something to fix."""


@commands.command(epilog="Example: topkapi doctor")
def doctor(as_json: AsJson = False) -> None:
    """Check settings, files, database, clock, disk and worker, and show how to fix each problem."""
    found = list(_diagnoses())
    lines = [f"{each.state:<8} {each.check:<12} {each.message}" for each in found]
    say(as_json, [asdict(each) for each in found], "\n".join(lines))
    if any(each.state == "problem" for each in found):
        raise typer.Exit(1)


def _diagnoses() -> Iterator[Diagnosis]:
    yield _checked("files", _files)
    try:
        settings = Settings()
    except ValueError as error:
        yield Diagnosis("settings", "problem", explain(error).message)
        return
    yield Diagnosis("settings", "ok", "all TOPKAPI_ variables are known")
    for name, check in (("secret", _secret), ("addresses", _addresses), ("disk", _disk)):
        yield _checked(name, partial(check, settings))
    yield from _of_database(settings)
    missing = [each for each in EXTRAS if not is_installed(each)]
    if missing:
        how = install_command(*missing)
        yield Diagnosis("extras", "note", f"not installed: {', '.join(missing)} ({how})")
    else:
        yield Diagnosis("extras", "ok", "all are installed")


def _checked(name: str, check: Callable[[], str]) -> Diagnosis:
    try:
        return Diagnosis(name, "ok", check())
    except _Problem as problem:
        return Diagnosis(name, "problem", str(problem))
    except Exception as error:
        return Diagnosis(name, "problem", explain(error).message)


def _files() -> str:
    require_assets()
    return "templates, static files and migrations are complete"


def _secret(settings: Settings) -> str:
    path = settings.secret_file
    if not path.exists():
        if not os.access(_existing(path), os.W_OK):
            raise _Problem(f"{path} cannot be created: make its folder writable")
        return f"{path} is created at the first start"
    load_secret(path)
    return f"{path} is readable by its owner only"


def _addresses(settings: Settings) -> str:
    url = settings.public_url
    if url.startswith("https:") and not settings.secure_cookies:
        raise _Problem(
            f"people use {url}, but cookies work over http: set TOPKAPI_SECURE_COOKIES=true"
        )
    if url.startswith("http:") and settings.secure_cookies:
        raise _Problem(
            f"no one can sign in at {url}, because cookies need https: change "
            "TOPKAPI_PUBLIC_URL, or set TOPKAPI_SECURE_COOKIES=false"
        )
    if not url and settings.host not in ("127.0.0.1", "localhost", "::1"):
        raise _Problem(
            "invitation links have no host: set TOPKAPI_PUBLIC_URL to the address of the server"
        )
    return f"people use {url}" if url else "only this machine can reach the server"


def _disk(settings: Settings) -> str:
    places = [_existing(settings.upload_dir)]
    url = normal_url(settings.database_url)
    if url.get_backend_name() == "sqlite":
        places.append(_existing(Path(url.database or "")))
    for place in places:
        free = shutil.disk_usage(place).free
        if free < _LEAST_FREE:
            raise _Problem(f"{place} has only {format_size(free)} free: make room")
        if not os.access(place, os.W_OK):
            raise _Problem(f"{place} is not writable by this user: change its owner or mode")
    return f"{format_size(min(shutil.disk_usage(each).free for each in places))} free"


def _existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    path = path.absolute()
    return next(each for each in (path, *path.parents) if each.exists())


def _of_database(settings: Settings) -> Iterator[Diagnosis]:
    """Yield what is known about the database; the checks need each other in this order."""
    if not database_exists(settings):
        message = f"{settings.database_url} does not exist yet: topkapi serve or topkapi demo"
        yield Diagnosis("database", "problem", f"{message} creates it")
        return
    with open_engine(settings.database_url) as engine:
        found = _checked("database", lambda: _migrated(migrations.revisions(engine)))
        yield found
        if found.state == "ok":
            with make_sessions(engine).read() as session:
                for name, check in (("accounts", _accounts), ("clock", _clock), ("jobs", _jobs)):
                    yield _checked(name, partial(check, session))
    if settings.read_database_url:
        yield _checked("replica", partial(_replica, settings.read_database_url))


def _replica(url: str) -> str:
    with open_engine(url) as engine, make_sessions(engine).read() as session:
        require_migrated(session)
    return "reports and exports are read from it"


def _migrated(state: migrations.Revisions) -> str:
    if not migrations.is_known(state.current):
        raise _Problem(
            f"at migration {state.current}, which this version does not know: use the newer Topkapi"
        )
    if not state.up_to_date:
        raise _Problem(f"at {state.current or 'none'}, needed {state.head}: topkapi db upgrade")
    return f"at migration {state.current}, up to date"


def _accounts(session: Session) -> str:
    admins = select(User.email).where(User.role == Role.ADMIN, User.disabled_at.is_(None))
    found = session.scalars(admins).all()
    if not found:
        raise _Problem(
            "no administrator: run topkapi users add you@example.org --name You --role admin"
        )
    return f"{len(found)} administrator{'s' * (len(found) > 1)}"


def _clock(session: Session) -> str:
    newest = session.scalar(select(func.max(JudgmentRow.created_at)))
    ahead = [newest] if newest is not None else []
    if session.get_bind().dialect.name == "postgresql":
        ahead.append(session.scalars(select(func.now())).one())
    off = max(((each - now()) for each in ahead), default=timedelta(0))
    if off > _CLOCK:
        raise _Problem(f"this machine's clock is {off} behind the database: synchronise it (NTP)")
    return "not behind the database"


def _jobs(session: Session) -> str:
    state = queue_state(session)
    if state.state == "stalled":
        raise _Problem(
            f"{state.waiting} wait, the oldest for {state.waiting_seconds} s: start topkapi work"
        )
    return f"{state.state}: {state.waiting} wait, {state.running} run"

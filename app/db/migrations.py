"""Migrations run by the program, both from a checkout and from an installed wheel."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Connection, Engine

from topkapi.app.db.base import Base
from topkapi.app.db.engine import READ_ONLY, open_engine
from topkapi.app.db.search import is_search_object
from topkapi.app.installation.assets import asset_dir

Step = Callable[[str, str], None]


def is_modelled(_object: Any, name: str | None, kind: str, reflected: bool, _other: Any) -> bool:
    """Return whether alembic compares a table, column or index of the database with the models."""
    return not (reflected and is_search_object(name, kind))


@dataclass(frozen=True, slots=True)
class Revisions:
    """The database's migration (None: empty), and the one this program expects."""

    current: str | None
    head: str

    @property
    def up_to_date(self) -> bool:
        """Whether the program can work on the database."""
        return self.current == self.head


class UnknownRevision(Exception):
    """There is no such migration; the message names it."""


def is_known(revision: str | None) -> bool:
    """Return whether this program has the migration; None, an empty database, is always known."""
    if revision is None:
        return True
    scripts = ScriptDirectory.from_config(_config())
    return any(script.revision == revision for script in scripts.walk_revisions())


@cache
def head_revision() -> str:
    """Return the newest migration this program has."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None, "there is at least one migration"
    return head


def revisions(engine: Engine, head: str | None = None) -> Revisions:
    """Compare the database's migration with the program's (``head``, if the caller knows it)."""
    with engine.execution_options(**READ_ONLY).connect() as connection:
        current = MigrationContext.configure(connection).get_current_revision()
    return Revisions(current=current, head=head or head_revision())


def upgrade(url: str, revision: str = "head") -> None:
    """Upgrade the database at ``url`` to ``revision``, all in one transaction."""
    _run(command.upgrade, url, revision)


def downgrade(url: str, revision: str) -> None:
    """Downgrade the database at ``url`` to ``revision`` (``base``: before the first; or ``-1``)."""
    _run(command.downgrade, url, revision)


def differences(engine: Engine) -> list[Any]:
    """Return where models and database differ; empty when they are the same."""
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "include_object": is_modelled}
        )
        return list(compare_metadata(context, Base.metadata))


def _run(step: Callable[[Config, str], None], url: str, revision: str) -> None:
    kept = open_engine(url, foreign_keys=False)  # a table rebuilt on SQLite must not cascade
    try:
        with kept as engine, engine.begin() as connection:
            step(_config(connection), revision)
            _check_foreign_keys(connection)
    except CommandError as error:
        raise UnknownRevision(f"no such migration: {error}") from None


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(asset_dir("migrations")).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _check_foreign_keys(connection: Connection) -> None:
    """Raise if any foreign key dangles, because checks were off during the migration."""
    if connection.dialect.name == "sqlite":
        dangling = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
        if dangling:
            raise RuntimeError(f"the migration left dangling foreign keys: {dangling[:3]}")

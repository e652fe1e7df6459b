"""Runs migrations on the connection it is handed, or on the database of the settings."""

from alembic import context
from sqlalchemy import Connection

from topkapi.app.config import Settings
from topkapi.app.db.base import Base
from topkapi.app.db.engine import make_engine
from topkapi.app.db.migrations import is_modelled


def migrate(connection: Connection) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        render_as_batch=True,
        compare_type=True,
        include_object=is_modelled,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given: Connection | None = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    with make_engine(Settings().database_url, foreign_keys=False).begin() as own:
        migrate(own)

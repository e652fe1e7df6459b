"""PostgreSQL keeps pages and their texts as they are: compressing them took most of an import."""

from alembic import op

revision = "0007"
down_revision = "0006"


def _store(how: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        for column in ("data", "text"):
            op.execute(f"ALTER TABLE contents ALTER COLUMN {column} SET STORAGE {how}")


def upgrade() -> None:
    _store("EXTERNAL")


def downgrade() -> None:
    _store("EXTENDED")

"""A person's own keys on the judging page."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("users", sa.Column("keys", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("users", "keys")

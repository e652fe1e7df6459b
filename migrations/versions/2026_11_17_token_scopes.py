"""Scope and end of API tokens; those there are keep writing, without an end."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column(
        "api_tokens",
        sa.Column("scope", sa.String(20), nullable=False, server_default=sa.text("'write'")),
    )
    op.add_column("api_tokens", sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("api_tokens", "expires_at")
    op.drop_column("api_tokens", "scope")

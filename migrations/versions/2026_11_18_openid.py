"""Accounts are linked to issuer and subject of an OpenID provider."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    op.add_column("users", sa.Column("openid", sa.Text(), nullable=True))
    op.create_index("ix_users_openid", "users", ["openid"], unique=True)


def downgrade() -> None:
    op.drop_index("ix_users_openid", "users")
    op.drop_column("users", "openid")

"""One-time codes at sign-in."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("users", sa.Column("totp_salt", sa.String(64), nullable=True))
    op.add_column("users", sa.Column("totp_step", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("users", "totp_step")
    op.drop_column("users", "totp_salt")

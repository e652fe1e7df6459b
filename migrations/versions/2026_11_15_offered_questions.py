"""The question that a sampled sorter has offered and nobody has answered yet."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    with op.batch_alter_table("assignments") as table:
        table.add_column(sa.Column("offered", sa.JSON(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("assignments") as table:
        table.drop_column("offered")

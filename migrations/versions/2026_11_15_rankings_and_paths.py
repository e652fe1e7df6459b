"""Rankings of systems, and the path at which a document's file stood in its study."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "rankings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("system", sa.String(length=300), nullable=False),
        sa.Column("documents", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_id"], ["queries.id"], name="fk_rankings_query_id_queries", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_rankings"),
        sa.UniqueConstraint("query_id", "system", name="uq_rankings_query_id_system"),
    )
    with op.batch_alter_table("documents") as table:
        table.add_column(
            sa.Column("path", sa.String(length=1000), nullable=False, server_default="")
        )
    with op.batch_alter_table("documents") as table:
        table.alter_column("path", server_default=None)


def downgrade() -> None:
    with op.batch_alter_table("documents") as table:
        table.drop_column("path")
    op.drop_table("rankings")

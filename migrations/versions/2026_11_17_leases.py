"""Leases of the pairs that members of a team are asked."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    op.create_table(
        "leases",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("first_id", sa.Integer(), nullable=False),
        sa.Column("second_id", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name="fk_leases_assignment_id_assignments",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["query_id"], ["queries.id"], name="fk_leases_query_id_queries", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("assignment_id", name="pk_leases"),
        sa.UniqueConstraint(
            "query_id", "first_id", "second_id", name="uq_leases_query_id_first_id_second_id"
        ),
    )


def downgrade() -> None:
    op.drop_table("leases")

"""What machines have spent in studies, over all runs."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    op.add_column(
        "machine_calls", sa.Column("unreported", sa.Integer(), nullable=False, server_default="0")
    )
    op.create_table(
        "machine_spending",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("unreported", sa.Integer(), nullable=False),
        sa.Column("tokens_in", sa.BigInteger(), nullable=False),
        sa.Column("tokens_out", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["studies.id"],
            name="fk_machine_spending_study_id_studies",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_machine_spending_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_machine_spending"),
        sa.UniqueConstraint("study_id", "user_id", name="uq_machine_spending_study_id_user_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_machine_spending_user_id", "machine_spending", ["user_id"])
    op.execute(
        "INSERT INTO machine_spending"
        " (study_id, user_id, requests, unreported, tokens_in, tokens_out)"
        " SELECT q.study_id, a.user_id, sum(c.requests), 0, sum(c.tokens_in), sum(c.tokens_out)"
        " FROM machine_calls c JOIN assignments a ON a.id = c.assignment_id"
        " JOIN queries q ON q.id = a.query_id GROUP BY q.study_id, a.user_id"
    )


def downgrade() -> None:
    op.drop_table("machine_spending")
    op.drop_column("machine_calls", "unreported")

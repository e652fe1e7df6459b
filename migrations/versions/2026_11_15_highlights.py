"""Terms a person highlights on the pages of a query."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "highlights",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["query_id"], ["queries.id"], name="fk_highlights_query_id_queries", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_highlights_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "query_id", name="pk_highlights"),
    )
    op.create_index("ix_highlights_query_id", "highlights", ["query_id"])


def downgrade() -> None:
    op.drop_table("highlights")

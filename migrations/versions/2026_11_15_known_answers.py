"""Gold pairs of queries, and how many answers of an assignment agree with what is known."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_BEFORE = (
    *("query_id", "user_id", "tool", "round", "withdrawn_at", "finished_at", "answered"),
    *("expected_left", "active_ms", "last_entry_at", "checks", "checks_agreed"),
)
_KEYS = {"query_id": "queries", "left_id": "documents", "right_id": "documents"}
_ADDED = ("known_answers", "known_right")


def upgrade() -> None:
    op.create_table(
        "gold_pairs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.Integer(), nullable=False),
        sa.Column("left_id", sa.Integer(), nullable=False),
        sa.Column("right_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(20), nullable=False),
        sa.Column("explanation", sa.Text(), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [column],
                [f"{table}.id"],
                name=f"fk_gold_pairs_{column}_{table}",
                ondelete="CASCADE",
            )
            for column, table in _KEYS.items()
        ),
        sa.PrimaryKeyConstraint("id", name="pk_gold_pairs"),
        sa.UniqueConstraint(
            "query_id", "left_id", "right_id", name="uq_gold_pairs_query_id_left_id_right_id"
        ),
        sqlite_autoincrement=True,
    )
    for name in ("left_id", "right_id"):
        op.create_index(f"ix_gold_pairs_{name}", "gold_pairs", [name])
    for name in _ADDED:  # the default stays: without it SQLite would have to copy the table
        column = sa.Column(name, sa.Integer(), nullable=False, server_default="0")
        op.add_column("assignments", column)
    op.drop_index("ix_assignments_summary", "assignments")
    op.create_index("ix_assignments_summary", "assignments", [*_BEFORE, *_ADDED])


def downgrade() -> None:
    op.drop_index("ix_assignments_summary", "assignments")
    for name in reversed(_ADDED):
        op.drop_column("assignments", name)
    op.create_index("ix_assignments_summary", "assignments", list(_BEFORE))
    op.drop_table("gold_pairs")

"""Training of assessors (practice questions, trainings, practice answers), and flags."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def _key(table: str, column: str, target: str, then: str = "CASCADE") -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_{column}_{target}"
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete=then)


def upgrade() -> None:
    op.create_table(
        "practice_items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("external_id", sa.String(length=300), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("tool", sa.String(length=20), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("left", sa.JSON(), nullable=False),
        sa.Column("right", sa.JSON(), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("explanation", sa.Text(), nullable=False),
        _key("practice_items", "study_id", "studies"),
        sa.PrimaryKeyConstraint("id", name="pk_practice_items"),
        sa.UniqueConstraint(
            "study_id", "external_id", name="uq_practice_items_study_id_external_id"
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "trainings",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("confirmed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("passed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("granted", sa.Integer(), nullable=False),
        sa.Column("agreed", sa.Integer(), nullable=True),
        sa.Column("asked", sa.Integer(), nullable=True),
        _key("trainings", "user_id", "users"),
        _key("trainings", "study_id", "studies"),
        sa.PrimaryKeyConstraint("user_id", "study_id", name="pk_trainings"),
    )
    op.create_index("ix_trainings_study_id", "trainings", ["study_id"])
    op.create_table(
        "practice_answers",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(length=100), nullable=False),
        sa.Column("agrees", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _key("practice_answers", "user_id", "users"),
        _key("practice_answers", "item_id", "practice_items"),
        sa.PrimaryKeyConstraint("user_id", "item_id", "attempt", name="pk_practice_answers"),
    )
    op.create_index("ix_practice_answers_item_id", "practice_answers", ["item_id"])
    op.create_table(
        "flags",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("shown", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("handled_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("handled_by", sa.Integer(), nullable=True),
        _key("flags", "assignment_id", "assignments", "RESTRICT"),
        _key("flags", "handled_by", "users", "RESTRICT"),
        sa.PrimaryKeyConstraint("id", name="pk_flags"),
        sqlite_autoincrement=True,
    )
    for column in ("assignment_id", "handled_by"):
        op.create_index(f"ix_flags_{column}", "flags", [column])


def downgrade() -> None:
    for table in ("flags", "practice_answers", "trainings", "practice_items"):
        op.drop_table(table)

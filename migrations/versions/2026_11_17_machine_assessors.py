"""Machine assessors: users that are models, prompts of studies, and calls of endpoints."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.add_column(
        "users", sa.Column("machine", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.create_table(
        "machine_prompts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("tool", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["studies.id"],
            name="fk_machine_prompts_study_id_studies",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_machine_prompts_user_id_users", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_machine_prompts"),
        sa.UniqueConstraint(
            "study_id", "tool", "number", name="uq_machine_prompts_study_id_tool_number"
        ),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "machine_calls",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("job_id", sa.Integer(), nullable=True),
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("order", sa.String(length=2), nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("prompt_number", sa.Integer(), nullable=False),
        sa.Column("was_cut", sa.Boolean(), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("version", sa.String(length=200), nullable=False),
        sa.Column("form", sa.String(length=20), nullable=False),
        sa.Column("answer", sa.String(length=100), nullable=True),
        sa.Column("confidence", sa.Float(), nullable=True),
        sa.Column("reply", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("latency_ms", sa.Integer(), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("claimed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name="fk_machine_calls_job_id_jobs", ondelete="SET NULL"
        ),
        sa.ForeignKeyConstraint(
            ["assignment_id"],
            ["assignments.id"],
            name="fk_machine_calls_assignment_id_assignments",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_machine_calls"),
        sa.UniqueConstraint("key", name="uq_machine_calls_key"),
        sqlite_autoincrement=True,
    )
    for column in ("assignment_id", "job_id"):
        op.create_index(f"ix_machine_calls_{column}", "machine_calls", [column])


def downgrade() -> None:
    op.drop_table("machine_calls")
    op.drop_table("machine_prompts")
    op.drop_column("users", "machine")

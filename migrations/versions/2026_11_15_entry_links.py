"""Entry links for crowds, and the people who came through them."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def _key(table: str, column: str, target: str, then: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_{column}_{target}"
    return sa.ForeignKeyConstraint([column], [f"{target}.id"], name=name, ondelete=then)


def upgrade() -> None:
    op.create_table(
        "entry_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=True),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("platform", sa.String(length=20), nullable=False),
        sa.Column("consent", sa.Text(), nullable=False),
        sa.Column("consent_digest", sa.String(length=64), nullable=False),
        sa.Column("code", sa.String(length=100), nullable=False),
        sa.Column("redirect_url", sa.String(length=1000), nullable=False),
        sa.Column("most_people", sa.Integer(), nullable=True),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        _key("entry_links", "study_id", "studies", "SET NULL"),
        sa.PrimaryKeyConstraint("id", name="pk_entry_links"),
        sa.UniqueConstraint("token_hash", name="uq_entry_links_token_hash"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_entry_links_study_id", "entry_links", ["study_id"])
    op.create_table(
        "crowd_workers",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=True),
        sa.Column("link_id", sa.Integer(), nullable=True),
        sa.Column("platform", sa.String(length=20), nullable=False),
        sa.Column("worker_id", sa.String(length=64), nullable=False),
        sa.Column("platform_study", sa.String(length=64), nullable=False),
        sa.Column("session_hash", sa.String(length=64), nullable=True),
        sa.Column("consented_at", sa.DateTime(timezone=True), nullable=False),
        _key("crowd_workers", "user_id", "users", "CASCADE"),
        _key("crowd_workers", "study_id", "studies", "SET NULL"),
        _key("crowd_workers", "link_id", "entry_links", "RESTRICT"),
        sa.PrimaryKeyConstraint("user_id", name="pk_crowd_workers"),
        sa.UniqueConstraint(
            "study_id", "platform", "worker_id", name="uq_crowd_workers_study_id_platform_worker_id"
        ),
    )
    op.create_index("ix_crowd_workers_link_id", "crowd_workers", ["link_id"])


def downgrade() -> None:
    for table in ("crowd_workers", "entry_links"):
        op.drop_table(table)

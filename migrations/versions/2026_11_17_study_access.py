"""Which researchers may read which study; those there are keep every study there is."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "study_access",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_study_access_user_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["study_id"],
            ["studies.id"],
            name="fk_study_access_study_id_studies",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "study_id", name="pk_study_access"),
    )
    op.create_index("ix_study_access_study_id", "study_access", ["study_id"])
    op.execute(
        "INSERT INTO study_access (user_id, study_id) SELECT users.id, studies.id "
        "FROM users CROSS JOIN studies WHERE users.role = 'researcher'"
    )


def downgrade() -> None:
    op.drop_table("study_access")

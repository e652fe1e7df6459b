"""What is kept when others reopen work: that it was finished, and how many pages were added.

Members of teams are marked, and whether they wait for the others.
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    zero = sa.text("0")
    for column in (
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("added_pages", sa.Integer(), nullable=False, server_default=zero),
        sa.Column("team_waits", sa.Boolean(), nullable=True),
    ):
        op.add_column("assignments", column)
    work = sa.table("assignments", sa.column("team_waits", sa.Boolean), sa.column("plan", sa.JSON))
    together = work.c.plan["together"].as_boolean()
    op.execute(sa.update(work).where(together).values(team_waits=False))


def downgrade() -> None:
    for name in ("team_waits", "added_pages", "completed_at"):
        op.drop_column("assignments", name)

"""Work that has nothing to ask is finished; replies to flags; codes for screened-out workers."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_FEWEST = {"pairs": 2, "grades": 1}  # pages without which there is no question


def upgrade() -> None:
    op.add_column(
        "flags", sa.Column("reply", sa.Text(), nullable=False, server_default=sa.text("''"))
    )
    op.add_column(
        "entry_links",
        sa.Column("screen_out", sa.String(1000), nullable=False, server_default=sa.text("''")),
    )
    _finish_what_asks_nothing()


def _finish_what_asks_nothing() -> None:
    names = ("id", "tool", "created_at", "finished_at", "answered")
    work = sa.table("assignments", *map(sa.column, names), sa.column("plan", sa.JSON))
    waiting = sa.select(work.c.id, sa.cast(work.c.tool, sa.String), work.c.plan).where(
        work.c.finished_at.is_(None), work.c.answered == 0
    )
    connection = op.get_bind()
    empty = [
        number
        for number, tool, plan in connection.execute(waiting)
        if len(plan["order"]) < _FEWEST.get(tool, 0)
    ]
    for number in empty:
        connection.execute(
            sa.update(work).where(work.c.id == number).values(finished_at=work.c.created_at)
        )


def downgrade() -> None:
    op.drop_column("entry_links", "screen_out")
    op.drop_column("flags", "reply")

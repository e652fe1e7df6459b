"""The two rankings that a judgment with the tool `lists` is about."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
_COLUMNS = ("left_ranking_id", "right_ranking_id")


def upgrade() -> None:
    with op.batch_alter_table("judgments") as table:
        for column in _COLUMNS:
            table.add_column(sa.Column(column, sa.Integer(), nullable=True))
            table.create_foreign_key(
                f"fk_judgments_{column}_rankings", "rankings", [column], ["id"], ondelete="RESTRICT"
            )


def downgrade() -> None:
    # Without its two rankings an answer cannot be replayed: the work is lost with its columns.
    of_lists = "SELECT id FROM assignments WHERE tool = 'lists'"
    for name in ("judgments", "timer_events"):
        op.execute(f"DELETE FROM {name} WHERE assignment_id IN ({of_lists})")
    op.execute("DELETE FROM assignments WHERE tool = 'lists'")
    with op.batch_alter_table("judgments") as table:
        for column in _COLUMNS:
            table.drop_constraint(f"fk_judgments_{column}_rankings", type_="foreignkey")
            table.drop_column(column)

"""One-time links for people; checks summed up with the assignment; an index the dashboard reads."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

SUMMARY = (
    "query_id",
    "user_id",
    "tool",
    "round",
    "withdrawn_at",
    "finished_at",
    "answered",
    "expected_left",
    "active_ms",
    "last_entry_at",
    "checks",
    "checks_agreed",
)
_SAME = {("left", "right"), ("right", "left"), ("tie", "tie")}  # a check swaps the sides


def upgrade() -> None:
    moment = sa.DateTime(timezone=True)
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("created_at", moment, nullable=False),
        sa.Column("expires_at", moment, nullable=False),
        sa.Column("used_at", moment, nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_invitations_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("token_hash", name="uq_invitations_token_hash"),
    )
    op.create_index("ix_invitations_user_id", "invitations", ["user_id"])
    with op.batch_alter_table("assignments") as table:
        for name in ("checks", "checks_agreed"):
            table.add_column(sa.Column(name, sa.Integer(), nullable=False, server_default="0"))
    with op.batch_alter_table("assignments") as table:
        for name in ("checks", "checks_agreed"):
            table.alter_column(name, server_default=None)
    _sum_up_checks(op.get_bind())
    op.drop_index("ix_assignments_query_id", "assignments")
    op.create_index("ix_assignments_summary", "assignments", list(SUMMARY))
    op.create_index("ix_audit_events_subject", "audit_events", ["subject"])
    op.create_index("ix_audit_events_user_id", "audit_events", ["user_id"])


def downgrade() -> None:
    op.drop_index("ix_audit_events_user_id", "audit_events")
    op.drop_index("ix_audit_events_subject", "audit_events")
    op.drop_index("ix_assignments_summary", "assignments")
    op.create_index("ix_assignments_query_id", "assignments", ["query_id"])
    with op.batch_alter_table("assignments") as table:
        for name in ("checks_agreed", "checks"):
            table.drop_column(name)
    op.drop_table("invitations")


def _sum_up_checks(connection: sa.Connection) -> None:
    """Count the checks in the logs that are there."""
    judgments = sa.table(
        "judgments",
        *(
            sa.column(name)
            for name in ("assignment_id", "position", "entry", "question_kind", "left_id")
        ),
        sa.column("right_id"),
        sa.column("answer"),
    )
    assignments = sa.table(
        "assignments", *(sa.column(name) for name in ("id", "checks", "checks_agreed"))
    )
    with_checks = sa.select(judgments.c.assignment_id).where(judgments.c.question_kind == "check")
    for assignment_id in connection.scalars(with_checks.distinct()).all():
        log = connection.execute(
            sa.select(judgments)
            .where(judgments.c.assignment_id == assignment_id)
            .order_by(judgments.c.position)
        ).all()
        checks, agreed = _counted(log)
        connection.execute(
            sa.update(assignments)
            .where(assignments.c.id == assignment_id)
            .values(checks=checks, checks_agreed=agreed)
        )


def _counted(log: Iterable[Any]) -> tuple[int, int]:
    done: list[Any] = []
    undone: list[Any] = []
    for row in log:
        if row.entry == "undo":
            undone.append(done.pop())
        elif row.entry == "redo":
            done.append(undone.pop())
        else:
            done.append(row)
            undone.clear()
    first: dict[tuple[int, int], str] = {}
    checks = agreed = 0
    for row in done:
        pair = (row.left_id, row.right_id)
        if row.question_kind == "check" and row.answer in ("left", "right", "tie"):
            checks += 1
            agreed += (first.get(pair[::-1]), row.answer) in _SAME
        elif row.question_kind == "sort":
            first.setdefault(pair, row.answer)
    return checks, agreed

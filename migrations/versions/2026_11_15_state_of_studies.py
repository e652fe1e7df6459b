"""A study stores its latest rotations and full copy, formerly read from the audit log."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("studies", sa.Column("rotations", sa.JSON(), nullable=True))
    op.add_column("studies", sa.Column("full_copy", sa.JSON(), nullable=True))
    _backfill(op.get_bind())


def downgrade() -> None:
    op.drop_column("studies", "full_copy")
    op.drop_column("studies", "rotations")


def _backfill(connection: sa.Connection) -> None:
    """Take the latest rotation of each kind and the latest copy from the audit log."""
    studies = sa.table(
        "studies",
        *(sa.column("id"), sa.column("slug"), sa.column("created_at", sa.DateTime())),
        *(sa.column("rotations", sa.JSON(none_as_null=True)),),
        *(sa.column("full_copy", sa.JSON(none_as_null=True)),),
    )
    events = sa.table(
        "audit_events",
        *(sa.column("id"), sa.column("at", sa.DateTime()), sa.column("action")),
        *(sa.column("subject"), sa.column("detail", sa.JSON())),
    )
    wanted = sa.select(studies.c.id, studies.c.slug, studies.c.created_at)
    for number, slug, created_at in connection.execute(wanted).all():
        acts = (
            sa.select(events.c.at, events.c.action, events.c.detail)
            .where(events.c.subject == slug, events.c.at >= created_at)
            .where(events.c.action.in_(("study.assign", "study.copy")))
            .order_by(events.c.id)
        )
        state = _state(connection.execute(acts).all())
        connection.execute(sa.update(studies).where(studies.c.id == number).values(**state))


def _state(acts: Any) -> dict[str, Any]:
    rotations: dict[str, Any] = {}
    full_copy = None
    for at, action, detail in acts:
        if action == "study.copy":
            full_copy = {**detail, "at": f"{at.replace(tzinfo=None).isoformat()}+00:00"}
        elif "people" in detail:
            kind = "lists" if detail.get("lists") else "ruled"
            rotations[kind] = {"people": detail["people"], "seed": detail["seed"]}
    return {"rotations": rotations or None, "full_copy": full_copy}

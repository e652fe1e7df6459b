"""Ids are never reused on SQLite (AUTOINCREMENT); an assignment keeps the digest of its plan.

SQLite forgets AUTOINCREMENT where a later migration rebuilds a table in batch mode: pass
``table_kwargs={"sqlite_autoincrement": True}`` there.
"""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

NUMBERED = (
    *("users", "studies", "queries", "documents", "study_files", "candidates", "rankings"),
    *("assignments", "judgments", "timer_events", "api_tokens", "invitations"),
    *("sign_in_attempts", "audit_events"),
)
IN_AUDIT = {"assignment": "assignments", "token": "api_tokens", "link": "invitations"}
_SOME = 200


def upgrade() -> None:
    op.add_column("assignments", sa.Column("plan_digest", sa.String(length=64), nullable=True))
    _backfill(op.get_bind())
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(autoincrement=True)
        _seed(op.get_bind())
    else:
        op.alter_column("assignments", "plan_digest", nullable=False)


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(autoincrement=False)
    else:
        op.drop_column("assignments", "plan_digest")


def _rebuild(*, autoincrement: bool) -> None:
    for name in NUMBERED:
        options: dict[str, Any] = {"sqlite_autoincrement": autoincrement}
        with op.batch_alter_table(name, recreate="always", table_kwargs=options) as table:
            if name == "assignments" and autoincrement:
                table.alter_column("plan_digest", nullable=False)
            elif name == "assignments":
                table.drop_column("plan_digest")


def _backfill(connection: sa.Connection) -> None:
    """Compute the digest of every plan, some at a time."""
    table = sa.table(
        "assignments", sa.column("id"), sa.column("plan", sa.JSON), sa.column("plan_digest")
    )
    some = sa.select(table.c.id, table.c.plan).order_by(table.c.id).limit(_SOME)
    last = 0
    while rows := connection.execute(some.where(table.c.id > last)).all():
        for number, plan in rows:
            of_one = sa.update(table).where(table.c.id == number)
            connection.execute(of_one.values(plan_digest=_digest(plan)))
            last = number


def _digest(plan: dict[str, Any]) -> str:
    text = json.dumps(_canonical(plan), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _canonical(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_canonical(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _seed(connection: sa.Connection) -> None:
    """Go on behind every id that is stored, and behind deleted ones that the audit log names."""
    for name in NUMBERED:
        last = connection.exec_driver_sql(f"SELECT COALESCE(MAX(id), 0) FROM {name}").scalar_one()
        for field in (field for field, of in IN_AUDIT.items() if of == name):
            named = f"SELECT MAX(CAST(json_extract(detail, '$.{field}') AS INTEGER))"
            last = max(last, connection.exec_driver_sql(f"{named} FROM audit_events").scalar() or 0)
        connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        connection.exec_driver_sql("INSERT INTO sqlite_sequence VALUES (?, ?)", (name, last))

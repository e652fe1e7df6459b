"""The matrix of people and queries: how far each assignment is, in a word."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Assignment
from topkapi.app.domain.enums import Tool
from topkapi.app.services.progress.study_progress import IDLE


@dataclass(frozen=True, slots=True)
class WorkCell:
    """An assignment in the matrix; ``note`` describes its progress in a word."""

    tool: Tool
    round: int
    state: str
    note: str


def matrix(
    session: Session,
    user_ids: Sequence[int],
    query_ids: Sequence[int],
    at: datetime | None = None,
) -> dict[tuple[int, int], list[WorkCell]]:
    """Return the cells of the matrix by user and query id; a list assignment may add a cell."""
    at = at or now()
    cells: dict[tuple[int, int], list[WorkCell]] = {}
    rows = _cells(session, user_ids, query_ids)
    in_order = sorted(rows, key=lambda row: list(Tool).index(row.tool))
    for user, query, tool, number, answered, left, finished_at, last_at in in_order:
        state, note = _state_and_note(answered, left, finished_at, last_at, at)
        cells.setdefault((user, query), []).append(WorkCell(tool, number + 1, state, note))
    return cells


def _state_and_note(
    answered: int,
    expected: int | None,
    finished_at: datetime | None,
    last_at: datetime | None,
    at: datetime,
) -> tuple[str, str]:
    if finished_at is not None:
        return "done", "done"
    if last_at is None:
        return "wait", "waiting"
    if at - last_at > IDLE:
        return "late", f"idle {(at - last_at).days} d"
    total = answered + (expected or 0)
    return "now", f"{round(100 * answered / total) if total else 0} %"


def _cells(
    session: Session, user_ids: Sequence[int], query_ids: Sequence[int]
) -> Sequence[Row[*tuple[Any, ...]]]:
    """Return the work of these people on these queries."""
    statement = select(
        Assignment.user_id,
        Assignment.query_id,
        Assignment.tool,
        Assignment.round,
        Assignment.answered,
        Assignment.expected_left,
        Assignment.finished_at,
        Assignment.last_entry_at,
    ).where(
        Assignment.query_id.in_(query_ids),
        Assignment.user_id.in_(user_ids),
        Assignment.withdrawn_at.is_(None),
    )
    return session.execute(statement.order_by(Assignment.round)).all()

"""The whole log of an assignment with notes and times, for its author."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import JudgmentRow


def whole_log(session: Session, assignment_id: int) -> Sequence[JudgmentRow]:
    """Return every entry of the log in order."""
    statement = select(JudgmentRow).where(JudgmentRow.assignment_id == assignment_id)
    return session.scalars(statement.order_by(JudgmentRow.position)).all()

"""Select statements of the assessor's queue."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager, defer

from app.db.models import Assignment, Query, Study


def assignments_of_user(session: Session, user_id: int) -> Sequence[Assignment]:
    """The person's work in studies that are going on, with query and study, in the order given."""
    statement = (
        select(Assignment)
        .join(Assignment.query)
        .join(Query.study)
        .options(
            contains_eager(Assignment.query).contains_eager(Query.study),
            defer(Assignment.plan),  # long, and not needed to say how far the work is
        )
        .where(
            Assignment.user_id == user_id,
            Assignment.withdrawn_at.is_(None),
            Study.archived_at.is_(None),
        )
        .order_by(Study.id, Assignment.round, Query.position, Assignment.id)
    )
    return session.scalars(statement).all()

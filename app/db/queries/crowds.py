"""Select statements about entry links and the people who came through them."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from topkapi.app.db.models import CrowdWorker, EntryLink


def links_of_study(session: Session, study_id: int) -> Sequence[EntryLink]:
    """Return the links of a study, latest first."""
    statement = select(EntryLink).where(EntryLink.study_id == study_id)
    return session.scalars(statement.order_by(EntryLink.id.desc())).all()


def is_crowd(session: Session, user_id: int) -> bool:
    """Return whether the account was made by an entry link."""
    statement = select(CrowdWorker.user_id).where(CrowdWorker.user_id == user_id)
    return session.scalar(statement) is not None

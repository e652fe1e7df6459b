"""History of a study's guidelines: every text that assessors were given, with its time."""

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from topkapi.app.db.models import GuidelineVersion, Study, User
from topkapi.app.domain.errors import NotFound

Version = tuple[GuidelineVersion, User | None]


def record_version(
    session: Session,
    study: Study,
    text: str,
    *,
    source: Literal["import", "edit"],
    actor_id: int | None,
) -> None:
    """Set the guidelines of ``study`` to ``text`` and append a version to their history."""
    mine = GuidelineVersion.study_id == study.id
    last = session.scalar(select(func.max(GuidelineVersion.number)).where(mine)) or 0
    session.add(
        GuidelineVersion(
            study_id=study.id, number=last + 1, text=text, source=source, user_id=actor_id
        )
    )
    study.guidelines = text


def versions(session: Session, study: Study) -> Sequence[Version]:
    """Return all versions with their authors, latest first."""
    statement = (
        select(GuidelineVersion, User)
        .outerjoin(User, User.id == GuidelineVersion.user_id)
        .where(GuidelineVersion.study_id == study.id)
        .order_by(GuidelineVersion.number.desc())
    )
    return [(row[0], row[1]) for row in session.execute(statement)]


def text_of_version(session: Session, study: Study, number: int) -> str:
    """Return the guidelines of one version or raise `NotFound`."""
    statement = select(GuidelineVersion.text).where(
        GuidelineVersion.study_id == study.id, GuidelineVersion.number == number
    )
    text = session.scalar(statement)
    if text is None:
        raise NotFound(f"The guidelines of {study.slug!r} have no version {number}.")
    return text

"""Which researchers may read a study. Administrators read all, assessors only their own work."""

from sqlalchemy.orm import Session

from topkapi.app.db.models import Study, StudyAccess, User
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict
from topkapi.app.services import audit


def set_access(
    session: Session, study: Study, user: User, *, given: bool, actor_id: int | None = None
) -> None:
    """Give a researcher access to the study, or take it away."""
    if given and user.role is not Role.RESEARCHER:
        raise Conflict(
            f"{user.email} is not a researcher. Only researchers "
            "are given studies: administrators see all of them, assessors see their work."
        )
    hold_settings(session, study, to_change=True)
    found = session.get(StudyAccess, (user.id, study.id))
    if (found is not None) is given:
        return
    if found is None:
        session.add(StudyAccess(user_id=user.id, study_id=study.id))
    else:
        session.delete(found)
    action = "study.give_access" if given else "study.take_access"
    audit.record(session, actor_id, action, study.slug, person=user.email)
    session.flush()

"""Life cycle of studies, and who may read them; deletion requires a copy of the judged work."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import Content, JudgmentRow, Study, StudyAccess, User
from topkapi.app.db.queries.studies import study_tables
from topkapi.app.db.queries.studies.importing import lock_imports
from topkapi.app.db.queries.studies.studies import hold_settings
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict, Invalid
from topkapi.app.services import audit
from topkapi.app.services.importing.problems import counted


@dataclass(frozen=True, slots=True)
class FullCopy:
    """A full copy of a study that was downloaded."""

    file: str
    size: int
    judgments: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Deletion:
    """What deleting a study would remove, and what must be done before."""

    rows: dict[str, int]
    copy: FullCopy | None
    missing: str | None

    @property
    def judgments(self) -> int:
        """Number of log entries of the study."""
        return self.rows.get(JudgmentRow.__tablename__, 0)


def archive(session: Session, study: Study, *, actor_id: int | None = None) -> None:
    """Archive a study: remove it from every queue and keep all its data."""
    if study.archived_at is None:
        study.archived_at = now()
        audit.record(session, actor_id, "study.archive", study.slug)


def unarchive(session: Session, study: Study, *, actor_id: int | None = None) -> None:
    """Restore an archived study."""
    if study.archived_at is not None:
        study.archived_at = None
        audit.record(session, actor_id, "study.unarchive", study.slug)


def look_at_deletion(session: Session, study: Study) -> Deletion:
    """Return what a deletion would remove, the latest copy, and what must be done before."""
    rows = study_tables.count_rows(session, study.id)
    copy = _copy_of(study)
    judged = rows.get(JudgmentRow.__tablename__, 0)
    missing = None
    if study.archived_at is None:
        missing = "Archive the study first; only archived studies can be deleted."
    elif judged and (copy is None or copy.judgments != judged):
        held = "no copy holds them" if copy is None else "the latest copy lacks some of them"
        entries = counted(judged, "log entry", "log entries")
        missing = f"The study has {entries}, and {held}. Download a full copy first."
    return Deletion(rows, copy, missing)


def delete_study(
    session: Session, study: Study, *, confirm: str, actor_id: int | None = None
) -> dict[str, int]:
    """Delete an archived study whose log a copy holds; ``confirm`` is the slug as typed."""
    if confirm.strip() != study.slug:
        raise Invalid(
            f"Type {study.slug} to confirm; you typed {confirm.strip()!r}.", field="confirm"
        )
    lock_imports(session)
    seen = look_at_deletion(session, study)
    if seen.missing is not None:
        raise Conflict(f"{study.slug!r} was not deleted. {seen.missing}")
    hashes = study_tables.hashes_of_study(session, study.id)
    study_tables.delete_rows(session, study.id)
    rows = {**seen.rows, Content.__tablename__: study_tables.drop_unused(session, hashes)}
    session.expunge(study)
    copy = seen.copy.file if seen.copy is not None else None
    audit.record(session, actor_id, "study.delete", study.slug, rows=_formatted(rows), copy=copy)
    return rows


def _copy_of(study: Study) -> FullCopy | None:
    """Return the latest full copy of the study."""
    kept = study.full_copy
    if kept is None:
        return None
    at = datetime.fromisoformat(kept["at"])
    return FullCopy(kept["file"], kept["bytes"], kept["judgments"], at)


def _formatted(rows: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in rows.items() if count)


def set_access(
    session: Session, study: Study, user: User, *, given: bool, actor_id: int | None = None
) -> None:
    """Give a researcher access to the study, or take it away."""
    if given and user.role is not Role.RESEARCHER:
        raise Conflict(
            f"{user.email} is not a researcher. Only researchers are given access to studies: "
            "administrators see all of them, assessors see their work."
        )
    hold_settings(session, study, to_change=True)
    access = session.get(StudyAccess, (user.id, study.id))
    if (access is not None) is given:
        return
    if access is None:
        session.add(StudyAccess(user_id=user.id, study_id=study.id))
    else:
        session.delete(access)
    action = "study.give_access" if given else "study.take_access"
    audit.record(session, actor_id, action, study.slug, person=user.email)
    session.flush()

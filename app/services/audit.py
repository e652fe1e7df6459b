"""The audit log: who did what to whom, one row per action, written in its transaction."""

from sqlalchemy.orm import Session

from topkapi.app.db.models import AuditEvent


def record(
    session: Session, actor_id: int | None, action: str, subject: str, **detail: object
) -> None:
    """Record that ``actor_id`` (None: the command line) did ``action`` to ``subject``."""
    session.add(AuditEvent(user_id=actor_id, action=action, subject=subject, detail=detail))

"""The audit log: who did what to whom, one row per action, written in its transaction."""

from secrets import token_hex

from sqlalchemy import insert
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import AuditEvent
from topkapi.app.services.late_writes import LateWrite, LateWrites


def record(
    session: Session, actor_id: int | None, action: str, subject: str, **detail: object
) -> None:
    """Record that ``actor_id`` (None: the command line) did ``action`` to ``subject``."""
    session.add(AuditEvent(user_id=actor_id, action=action, subject=subject, detail=detail))


def record_late(
    late: LateWrites, actor_id: int | None, action: str, subject: str, **detail: object
) -> None:
    """Record an action that changes nothing, such as a download, without waiting for a lock."""
    values = {"user_id": actor_id, "action": action, "subject": subject, "detail": detail}
    late.add(("audit", token_hex(8)), LateWrite(insert(AuditEvent).values(at=now(), **values)))

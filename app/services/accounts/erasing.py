"""Erasing a person: a pseudonym replaces name, e-mail and worker id; judgments are kept."""

from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import ApiToken, AuditEvent, CrowdWorker, Invitation, SignInAttempt, User
from topkapi.app.domain.errors import Conflict
from topkapi.app.services import audit
from topkapi.app.services.accounts import users

DOMAIN = "erased.invalid"  # a domain that can never exist (RFC 2606)


def erase_user(session: Session, user: User, *, actor_id: int | None = None) -> str:
    """Erase a person and return the pseudonym: nobody can sign in with the account again."""
    if user.email.endswith(f"@{DOMAIN}"):
        raise Conflict(f"{user.email} is erased already.")
    users.disable_user(session, user, actor_id=actor_id)
    session.flush()
    email, name = user.email, user.name
    user.email, user.name = f"person-{user.id}@{DOMAIN}", f"Person {user.id}"
    user.password_hash = None
    user.disabled_at = user.disabled_at or now()
    for table in (ApiToken, Invitation):
        session.execute(delete(table).where(table.user_id == user.id))
    erased = {"worker_id": f"erased-{user.id}", "session_hash": None, "platform_study": ""}
    session.execute(update(CrowdWorker).where(CrowdWorker.user_id == user.id).values(**erased))
    session.execute(delete(SignInAttempt).where(SignInAttempt.email == email))
    _rewrite_audit(session, {email: user.email, name: user.name})
    audit.record(session, actor_id, "user.erase", user.email)
    session.flush()
    return user.email


def _rewrite_audit(session: Session, names: dict[str, str]) -> None:
    """Replace the e-mail and the name in the audit log, whose entries stay."""
    session.flush()
    for event in session.scalars(select(AuditEvent).execution_options(yield_per=1000)):
        subject, detail = _replaced(event.subject, names), _replaced(event.detail, names)
        if (subject, detail) != (event.subject, event.detail):
            event.subject, event.detail = subject, detail


def _replaced(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, str):
        for old, new in names.items():
            value = value.replace(old, new)
        return value
    if isinstance(value, list):
        return [_replaced(each, names) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, names) for key, each in value.items()}
    return value

"""Erasing a person: a pseudonym replaces name, e-mail and worker id; judgments are kept."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

from sqlalchemy import delete, select, text, update
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.engine import Sessions, connection_of
from topkapi.app.db.models import (
    ApiToken,
    Assignment,
    AuditEvent,
    CrowdWorker,
    Flag,
    Invitation,
    JudgmentRow,
    RecoveryCode,
    SignInAttempt,
    StudyAccess,
    User,
)
from topkapi.app.domain import addresses
from topkapi.app.domain.errors import Conflict
from topkapi.app.services import audit
from topkapi.app.services.accounts import users

_ERASED = "(erased)"
# Where the audit log has names: of people before and after, and of tokens.
_NAMES = {"user.rename": ("before", "after"), "token.issue": ("name",), "token.revoke": ("name",)}


def erase_user(
    session: Session, user: User, *, notes: bool = False, actor_id: int | None = None
) -> str:
    """Erase a person and return the pseudonym: nobody can sign in with the account again.

    ``notes`` also blanks the notes and flags that the person wrote.
    """
    if addresses.is_erased(user.email):
        raise Conflict(f"{user.email} is erased already.")
    if connection_of(session).dialect.name == "sqlite":
        session.execute(text("PRAGMA secure_delete=ON"))  # overwrite what is replaced
    users.disable_user(session, user, actor_id=actor_id)
    session.flush()
    own = select(ApiToken.id).where(ApiToken.user_id == user.id)
    old, tokens = user.email, {str(number) for number in session.scalars(own)}
    user.email, user.name = f"person-{user.id}@{addresses.ERASED}", f"Person {user.id}"
    user.password_hash = user.totp_salt = user.openid = None
    user.disabled_at = user.disabled_at or now()
    for table in (ApiToken, Invitation, RecoveryCode, StudyAccess):
        session.execute(delete(table).where(table.user_id == user.id))
    session.execute(delete(SignInAttempt).where(SignInAttempt.email == old))
    _erase_worker(session, user)
    _rewrite_audit(session, old, user, tokens)
    if notes:
        _blank_notes(session, user)
    audit.record(session, actor_id, "user.erase", user.email, notes=notes)
    session.flush()
    return user.email


def truncate_log(sessions: Sessions) -> None:
    """Empty SQLite's write-ahead log, which has the replaced values until then."""
    with sessions.read() as session:
        engine = session.get_bind().engine
    if engine.dialect.name == "sqlite":
        with closing(engine.raw_connection()) as connection:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _erase_worker(session: Session, user: User) -> None:
    worker = session.get(CrowdWorker, user.id)
    if worker is None:
        return
    attempt = SignInAttempt.email
    own = attempt.startswith("enter:") & attempt.endswith(f":{worker.worker_id}", autoescape=True)
    session.execute(delete(SignInAttempt).where(own))
    worker.worker_id, worker.session_hash, worker.platform_study = f"erased-{user.id}", None, ""


def _blank_notes(session: Session, user: User) -> None:
    own = select(Assignment.id).where(Assignment.user_id == user.id)
    noted = (JudgmentRow.assignment_id.in_(own), JudgmentRow.note.is_not(None))
    session.execute(update(JudgmentRow).where(*noted).values(note=None))
    session.execute(update(Flag).where(Flag.assignment_id.in_(own)).values(reason=_ERASED))


def _rewrite_audit(session: Session, old: str, user: User, tokens: set[str]) -> None:
    """Replace the e-mail, all former names and the names of tokens; the entries stay."""
    session.flush()

    def word_by_word(value: str) -> str:
        return " ".join(user.email if word == old else word for word in value.split(" "))

    for event in session.scalars(select(AuditEvent).execution_options(yield_per=1000)):
        detail = _replaced(event.detail, word_by_word)
        about = event.subject == old or (event.action == "token.revoke" and event.subject in tokens)
        for name in _NAMES.get(event.action, ()) if about else ():
            detail[name] = user.name if event.action == "user.rename" else _ERASED
        subject = word_by_word(event.subject)
        if (subject, detail) != (event.subject, event.detail):
            event.subject, event.detail = subject, detail


def _replaced(value: Any, replace: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, list):
        return [_replaced(each, replace) for each in value]
    if isinstance(value, dict):
        return {key: _replaced(each, replace) for key, each in value.items()}
    return value

"""API tokens for programs: shown once, stored as a hash, revocable, with a scope and an end."""

import hashlib
import secrets
from datetime import datetime, timedelta

from sqlalchemy import bindparam, select, update
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.engine import connection_of
from topkapi.app.db.models import ApiToken, User
from topkapi.app.db.queries.accounts import people
from topkapi.app.db.queries.accounts.accounts import Account, Bearer
from topkapi.app.db.queries.crowds import is_crowd
from topkapi.app.domain.enums import TOKEN_DAYS, Scope
from topkapi.app.domain.errors import Conflict, Invalid, NotFound, SignInNeeded
from topkapi.app.services import audit
from topkapi.app.services.late_writes import LateWrite, LateWrites

# Built once: it runs with every API request.
_VALID_TOKEN = (
    select(
        ApiToken.id,
        ApiToken.last_used_at,
        ApiToken.scope,
        ApiToken.expires_at,
        User.id,
        User.email,
        User.name,
        User.role,
        User.demo,
        User.disabled_at,
    )
    .join(User, User.id == ApiToken.user_id)
    .where(ApiToken.token_hash == bindparam("token_hash"), ApiToken.revoked_at.is_(None))
)

PREFIX = "topkapi_"
_NOTE_USE_EVERY = timedelta(minutes=1)


def issue_token(
    session: Session,
    user: User,
    name: str,
    *,
    scope: Scope = Scope.WRITE,
    days: int = TOKEN_DAYS,
    actor_id: int | None = None,
) -> tuple[ApiToken, str]:
    """Create a token for ``user`` that ends after ``days``, if not 0; return its plain text."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= 100:
        raise Invalid("Enter a name of 1 to 100 characters for the token.", field="name")
    if is_crowd(session, user.id):
        raise Conflict(
            f"{user.name} joined through an entry link and can only judge in the browser."
        )
    plain = PREFIX + secrets.token_urlsafe(32)
    ends = now() + timedelta(days=days) if days else None
    token = ApiToken(
        user_id=user.id, name=name, token_hash=hash_token(plain), scope=scope, expires_at=ends
    )
    session.add(token)
    session.flush()
    facts = {"name": name, "token": token.id, "scope": scope.value, "days": days}
    audit.record(session, actor_id, "token.issue", user.email, **facts)
    return token, plain


def revoke_token(
    session: Session, token_id: int, *, user_id: int | None = None, actor_id: int | None = None
) -> None:
    """Revoke a token; with ``user_id`` only if it belongs to that user."""
    token = session.get(ApiToken, token_id)
    if token is None or (user_id is not None and token.user_id != user_id):
        raise NotFound(f"There is no token {token_id}.")
    _revoke(session, token, actor_id)


def revoke_all(session: Session, user: User, *, actor_id: int | None = None) -> int:
    """Revoke every token of ``user`` and return their number."""
    found = people.tokens_of_user(session, user.id)
    for token in found:
        _revoke(session, token, actor_id)
    return len(found)


def _revoke(session: Session, token: ApiToken, actor_id: int | None) -> None:
    if token.revoked_at is None:
        token.revoked_at = now()
        owner, facts = session.get_one(User, token.user_id), {"name": token.name, "token": token.id}
        audit.record(session, actor_id, "token.revoke", owner.email, **facts)


def owner_of(session: Session, plain: str) -> Bearer:
    """Return the valid token with its owner; those that ended or have a disabled owner are not."""
    which = {"token_hash": hash_token(plain)}
    found = connection_of(session).execute(_VALID_TOKEN, which).one_or_none()
    token = None if found is None else Bearer(*found[:4], Account(*found[4:10]))
    if token is None or token.user.disabled_at is not None:
        raise SignInNeeded("The token is unknown or revoked, or its owner's account is disabled.")
    if token.expires_at is not None and token.expires_at <= now():
        raise SignInNeeded(f"The token ended on {token.expires_at:%Y-%m-%d}. Create a new one.")
    return token


class TokenUses:
    """Records when tokens were used, at most once per minute and token, without locking."""

    def __init__(self, late: LateWrites) -> None:
        self._late = late
        self._noted: dict[int, datetime] = {}

    def note(self, token: Bearer) -> None:
        """Record that ``token`` was used just now."""
        at = now()
        last = max(
            filter(None, (token.last_used_at, self._noted.get(token.token_id))), default=None
        )
        if last is not None and at - last <= _NOTE_USE_EVERY:
            return
        self._noted[token.token_id] = at
        statement = update(ApiToken).where(ApiToken.id == token.token_id).values(last_used_at=at)
        self._late.add(("token", token.token_id), LateWrite(statement))


def hash_token(plain: str) -> str:
    """Return the stored hash of a token; it is unsalted, because tokens cannot be guessed."""
    return hashlib.sha256(plain.encode()).hexdigest()

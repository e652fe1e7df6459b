"""Users: create, change role or password, disable. Every action is recorded in the audit log.

``actor_id`` is the administrator who acts; None is the command line.
"""

import re
from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from topkapi.app.db.base import now
from topkapi.app.db.models import StudyAccess, User
from topkapi.app.db.queries.accounts import accounts as queries
from topkapi.app.db.queries.crowds import is_crowd
from topkapi.app.domain import addresses
from topkapi.app.domain.enums import Role
from topkapi.app.domain.errors import Conflict, Forbidden, Invalid, NotFound
from topkapi.app.services import audit
from topkapi.app.services.accounts import tokens
from topkapi.app.services.accounts.passwords import hash_password

EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+")


def create_user(
    session: Session,
    *,
    email: str,
    name: str,
    role: Role,
    password: str | None = None,
    demo: bool = False,
    machine: bool = False,
    actor_id: int | None = None,
) -> User:
    """Create an account; without a password it cannot sign in until one is set."""
    email = _checked_email(email)
    if email.endswith(f"@{addresses.MACHINE}") and not machine:
        raise Invalid(f"Addresses at {addresses.MACHINE} are reserved for machines.", field="email")
    user = User(
        email=email,
        name=checked_name(name),
        role=role,
        demo=demo,
        machine=machine,
        password_hash=None if password is None else hash_password(password, email, name),
    )
    session.add(user)
    try:
        session.flush()
    except IntegrityError:
        raise Conflict(f"There is already an account for {user.email}.") from None
    audit.record(session, actor_id, "user.create", user.email, role=role.value)
    return user


def user_of_email(session: Session, email: str) -> User:
    """Return the user with this e-mail address, or raise `NotFound`."""
    user = queries.user_by_email(session, email)
    if user is None:
        raise NotFound(f"There is no account for {email.strip().lower()}.")
    return user


def user_of_number(session: Session, user_id: int) -> User:
    """Return the user with this id, or raise `NotFound`."""
    user = session.get(User, user_id)
    if user is None:
        raise NotFound(f"There is no user with the id {user_id}.")
    return user


def set_password(
    session: Session, user: User, password: str, *, actor_id: int | None = None
) -> None:
    """Set a new password; revoke all sessions and API tokens."""
    if user.machine:
        raise Conflict(f"{user.name} is a machine and cannot sign in.")
    user.password_hash = hash_password(password, user.email, user.name)
    revoked = end_access(session, user, actor_id=actor_id)
    audit.record(session, actor_id, "user.set_password", user.email, tokens_revoked=revoked)


def rename(session: Session, user: User, name: str) -> None:
    """Change the person's own name."""
    before, user.name = user.name, checked_name(name)
    if user.name != before:
        audit.record(session, user.id, "user.rename", user.email, before=before, after=user.name)


def change_role(session: Session, user: User, role: Role, *, actor_id: int | None = None) -> None:
    """Change the role of a user; refuse to demote the last administrator.

    Somebody who is no researcher any more loses the studies that they were given.
    """
    if role is not Role.ADMIN:
        _keep_an_admin(session, user)
    if role is not Role.ASSESSOR and is_crowd(session, user.id):
        raise Conflict(f"{user.name} joined through an entry link and can only be an assessor.")
    audit.record(
        session, actor_id, "user.change_role", user.email, before=user.role.value, after=role.value
    )
    user.role = role
    if role is not Role.RESEARCHER:
        session.execute(delete(StudyAccess).where(StudyAccess.user_id == user.id))


def disable_user(session: Session, user: User, *, actor_id: int | None = None) -> None:
    """Disable an account and revoke its sessions and tokens; its data is kept."""
    _keep_an_admin(session, user)
    if user.disabled_at is None:
        user.disabled_at = now()
        revoked = end_access(session, user, actor_id=actor_id)
        audit.record(session, actor_id, "user.disable", user.email, tokens_revoked=revoked)


def enable_user(session: Session, user: User, *, actor_id: int | None = None) -> None:
    """Enable a disabled account; an erased one stays closed."""
    if addresses.is_erased(user.email):
        raise Conflict(f"{user.email} is erased: nobody can use the account again.")
    if user.disabled_at is not None:
        user.disabled_at = None
        audit.record(session, actor_id, "user.enable", user.email)


def link_openid(session: Session, user: User, openid: str) -> User:
    """Link an account to its owner at an OpenID provider; refuse if it is linked to another."""
    user = session.get_one(User, user.id, with_for_update=True, populate_existing=True)
    if user.openid is None:
        user.openid = openid
        audit.record(session, user.id, "user.link", user.email)
    elif user.openid != openid:
        raise Forbidden(
            f"{user.email} is linked to another account at the other site. If it is yours, ask an "
            f"administrator to run: topkapi users unlink {user.email}"
        )
    return user


def unlink_openid(session: Session, user: User) -> None:
    """Forget the account at an OpenID provider; the next sign-in there links another."""
    if user.openid is not None:
        user.openid = None
        end_sessions(user)
        audit.record(session, None, "user.unlink", user.email)


def end_sessions(user: User) -> None:
    """Revoke all browser sessions of a user; API tokens stay valid."""
    user.session_version += 1


def end_access(session: Session, user: User, *, actor_id: int | None) -> int:
    """Revoke all sessions and tokens of a user; return the number of revoked tokens.

    For cases in which somebody else may have access: a reset, a new password, a disabled account.
    """
    end_sessions(user)
    return tokens.revoke_all(session, user, actor_id=actor_id)


def _keep_an_admin(session: Session, user: User) -> None:
    if list(lock_active_admins(session)) == [user.id]:
        raise Conflict(
            f"{user.email} is the last administrator. Make another user an administrator first."
        )


def _checked_email(email: str) -> str:
    email = email.strip().lower()
    if len(email) > 254 or not EMAIL.fullmatch(email):
        raise Invalid(f"{email!r} is not an e-mail address.", field="email")
    return email


def checked_name(name: str) -> str:
    """Return the name with normalized spaces; refuse an empty or a very long one."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= 200:
        raise Invalid("Enter a name of 1 to 200 characters.", field="name")
    return name


def lock_active_admins(session: Session) -> Sequence[int]:
    """Lock the administrators who can still sign in until the transaction ends; return their ids.

    Otherwise two administrators who demote each other at once would each count the other. The lock
    (``FOR NO KEY UPDATE``) lets others refer to the rows; on SQLite there is only one writer
    anyway.
    """
    statement = (
        select(User.id)
        .where(User.role == Role.ADMIN, User.disabled_at.is_(None))
        .order_by(User.id)
        .with_for_update(key_share=True)
    )
    return session.scalars(statement).all()

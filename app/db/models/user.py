"""People, their one-time links and tokens, their failed sign-ins, and the audit log."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, Json, now
from topkapi.app.domain.enums import Role, Scope


class User(Base):
    """A person; ``email`` is lower case; raising ``session_version`` ends every session.

    ``keys`` are the person's own keys on the judging page, by action; None: the default keys.
    A ``machine`` is a model that judges; it cannot sign in and is never counted as a person.
    ``openid`` is issuer and subject of the account at an OpenID provider that may sign in.
    ``totp_salt`` is set if one-time codes are asked for, ``totp_step`` is the last one used.
    """

    __tablename__ = "users"
    __table_args__ = (UniqueConstraint("email"), Index(None, "openid", unique=True))
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    name: Mapped[str] = mapped_column(String(200))
    password_hash: Mapped[str | None] = mapped_column(String(200))
    role: Mapped[Role]
    session_version: Mapped[int] = mapped_column(default=1)
    demo: Mapped[bool] = mapped_column(default=False)
    machine: Mapped[bool] = mapped_column(default=False)
    keys: Mapped[Json | None]
    openid: Mapped[str | None] = mapped_column(Text)
    totp_salt: Mapped[str | None] = mapped_column(String(64))
    totp_step: Mapped[int | None]
    disabled_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)


class ApiToken(Base):
    """A token for API programs; only its hash is stored. Without ``expires_at`` it never ends."""

    __tablename__ = "api_tokens"
    __table_args__ = (UniqueConstraint("token_hash"), Index(None, "user_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    token_hash: Mapped[str] = mapped_column(String(64))
    scope: Mapped[Scope] = mapped_column(default=Scope.WRITE)
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    user: Mapped[User] = relationship(lazy="raise")


class RecoveryCode(Base):
    """A code that replaces a one-time code once; only its hash is stored, until it is used."""

    __tablename__ = "recovery_codes"
    __table_args__ = (UniqueConstraint("code_hash"), Index(None, "user_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    code_hash: Mapped[str] = mapped_column(String(64))


class SignInAttempt(Base):
    """A failed sign-in, counted by throttling.

    ``address`` is the source: a network address, or ``device:`` and the id of a known device.
    """

    __tablename__ = "sign_in_attempts"
    __table_args__ = (Index(None, "email", "at"), Index(None, "address", "at"))
    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str] = mapped_column(String(254))
    address: Mapped[str] = mapped_column(String(64))
    at: Mapped[datetime]


class AuditEvent(Base):
    """One administrative action; ``user_id`` is empty when it came from the command line."""

    __tablename__ = "audit_events"
    __table_args__ = (Index(None, "at"), Index(None, "subject"), Index(None, "user_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="RESTRICT"))
    action: Mapped[str] = mapped_column(String(60))
    subject: Mapped[str] = mapped_column(Text)
    detail: Mapped[Json] = mapped_column(default=dict)
    user: Mapped[User | None] = relationship(lazy="raise")


class Invitation(Base):
    """A link that works once and for some days; only the hash of its token is stored."""

    __tablename__ = "invitations"
    __table_args__ = (UniqueConstraint("token_hash"), Index(None, "user_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    token_hash: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]
    user: Mapped[User] = relationship(lazy="raise")

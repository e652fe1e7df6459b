"""One-time links for setting a password."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, now
from topkapi.app.db.models.user import User


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

"""Questions that an assessor has flagged for the administrators."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, now
from topkapi.app.db.models.assignment import Assignment
from topkapi.app.db.models.user import User


class Flag(Base):
    """A flagged question; it is no answer, and the log does not know it.

    ``position`` is the position of the log at which the question was open; ``shown`` are the names
    of its pages or, with the tool `lists`, of its systems. The assessor reads ``reply``.
    """

    __tablename__ = "flags"
    __table_args__ = (Index(None, "assignment_id"), Index(None, "handled_by"))
    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="RESTRICT"))
    position: Mapped[int]
    shown: Mapped[list[str]] = mapped_column(JSON)
    reason: Mapped[str] = mapped_column(Text)
    reply: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    handled_at: Mapped[datetime | None]
    handled_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="RESTRICT"))
    assignment: Mapped[Assignment] = relationship(lazy="raise")
    handler: Mapped[User | None] = relationship(lazy="raise")

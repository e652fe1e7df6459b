"""Events of session clocks."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, BigInt, now
from topkapi.app.db.models.assignment import Assignment
from topkapi.app.domain.enums import TimerKind


class TimerEvent(Base):
    """An event of an assignment's clock; it has no position in the log."""

    __tablename__ = "timer_events"
    __table_args__ = (Index(None, "assignment_id", "created_at"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="RESTRICT"))
    kind: Mapped[TimerKind]
    reason: Mapped[str | None] = mapped_column(String(100))
    active_ms: Mapped[BigInt] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(default=now)
    assignment: Mapped[Assignment] = relationship(lazy="raise")

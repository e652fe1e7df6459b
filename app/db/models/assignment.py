"""Assignments: one assessor, one query, one tool, one round, and all that steers their replay."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from app.db.base import Base, BigInt, Json, now
from app.db.models.study import Query
from app.db.models.user import User
from app.domain.words import Tool


class Assignment(Base):
    """Work given to an assessor; it is withdrawn, never deleted.

    ``answered``, ``expected_left``, ``active_ms`` and ``last_entry_at`` sum up the log for queues
    and dashboards. They are written in the transaction that appends the entry.
    """

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("user_id", "query_id", "tool", "round"),
        Index(None, "query_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="RESTRICT"))
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="RESTRICT"))
    tool: Mapped[Tool]
    round: Mapped[int] = mapped_column(default=0)
    plan: Mapped[Json]
    created_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    answered: Mapped[int] = mapped_column(default=0)
    expected_left: Mapped[int | None]
    active_ms: Mapped[BigInt] = mapped_column(default=0)
    last_entry_at: Mapped[datetime | None]
    user: Mapped[User] = relationship(lazy="raise")
    query: Mapped[Query] = relationship(lazy="raise")

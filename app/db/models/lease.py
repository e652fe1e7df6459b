"""Leases: the pairs that members of a team have on their screens."""

from datetime import datetime

from sqlalchemy import ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base


class PairLease(Base):
    """The pair that an assignment of a team asks, which nobody else is asked until it ends.

    The pages are in ascending order of their ids. ``expires_at`` is on the database's clock.
    """

    __tablename__ = "leases"
    __table_args__ = (UniqueConstraint("query_id", "first_id", "second_id"),)
    assignment_id: Mapped[int] = mapped_column(
        ForeignKey("assignments.id", ondelete="CASCADE"), primary_key=True
    )
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    first_id: Mapped[int]
    second_id: Mapped[int]
    expires_at: Mapped[datetime]

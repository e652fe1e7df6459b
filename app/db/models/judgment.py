"""The append-only log of assignments."""

from datetime import datetime

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, BigInt, now
from topkapi.app.db.models.assignment import Assignment
from topkapi.app.domain.log import EntryKind
from topkapi.app.domain.pairs.answers import QuestionKind


class JudgmentRow(Base):
    """One entry of an assignment's log, at ``position``; undo and redo have no question.

    A question is about pages or, with the tool `lists`, about rankings.
    """

    __tablename__ = "judgments"
    __table_args__ = (UniqueConstraint("assignment_id", "position"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="RESTRICT"))
    position: Mapped[int]
    entry: Mapped[EntryKind]
    question_kind: Mapped[QuestionKind | None]
    left_id: Mapped[int | None] = mapped_column(ForeignKey("documents.id", ondelete="RESTRICT"))
    right_id: Mapped[int | None] = mapped_column(ForeignKey("documents.id", ondelete="RESTRICT"))
    left_ranking_id: Mapped[int | None] = mapped_column(
        ForeignKey("rankings.id", ondelete="RESTRICT")
    )
    right_ranking_id: Mapped[int | None] = mapped_column(
        ForeignKey("rankings.id", ondelete="RESTRICT")
    )
    answer: Mapped[str | None] = mapped_column(String(100))
    active_ms: Mapped[BigInt] = mapped_column(default=0)
    wall_ms: Mapped[BigInt] = mapped_column(default=0)
    note: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(default=now)
    assignment: Mapped[Assignment] = relationship(lazy="raise")

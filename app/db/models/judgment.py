"""The append-only log of assignments, session clocks, flagged questions, and highlighted terms."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, BigInt, now
from topkapi.app.db.models.assignment import Assignment
from topkapi.app.db.models.user import User
from topkapi.app.domain.enums import TimerKind
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


class Highlight(Base):
    """The terms a person wants highlighted for a query, instead of the query's own."""

    __tablename__ = "highlights"
    __table_args__ = (Index(None, "query_id"),)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    query_id: Mapped[int] = mapped_column(
        ForeignKey("queries.id", ondelete="CASCADE"), primary_key=True
    )
    terms: Mapped[list[str]] = mapped_column(JSON)


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

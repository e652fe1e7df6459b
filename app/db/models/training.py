"""Training of assessors: practice questions and answers, each person's training, gold pairs.

Practice answers are not counted: none of these rows is an assignment or a judgment.
"""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base, now
from topkapi.app.domain.enums import Tool


class PracticeItem(Base):
    """A practice question of a study; ``left`` and ``right`` are document ids."""

    __tablename__ = "practice_items"
    __table_args__ = (UniqueConstraint("study_id", "external_id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    external_id: Mapped[str] = mapped_column(String(300))
    position: Mapped[int]
    tool: Mapped[Tool]
    query: Mapped[str] = mapped_column(Text)
    description: Mapped[str] = mapped_column(Text, default="")
    left: Mapped[list[int]] = mapped_column(JSON)
    right: Mapped[list[int]] = mapped_column(JSON)
    answers: Mapped[list[str]] = mapped_column(JSON)
    explanation: Mapped[str] = mapped_column(Text)


class Training(Base):
    """A person's training for a study.

    ``failed`` counts finished tries that did not qualify, ``granted`` further tries. ``agreed`` of
    ``asked`` is the score of the last finished try.
    """

    __tablename__ = "trainings"
    __table_args__ = (Index(None, "study_id"),)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    study_id: Mapped[int] = mapped_column(
        ForeignKey("studies.id", ondelete="CASCADE"), primary_key=True
    )
    confirmed_at: Mapped[datetime | None]
    passed_at: Mapped[datetime | None]
    failed: Mapped[int] = mapped_column(default=0)
    granted: Mapped[int] = mapped_column(default=0)
    agreed: Mapped[int | None]
    asked: Mapped[int | None]


class PracticeAnswer(Base):
    """A person's answer to a practice question in one try."""

    __tablename__ = "practice_answers"
    __table_args__ = (Index(None, "item_id"),)
    user_id: Mapped[int] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    item_id: Mapped[int] = mapped_column(
        ForeignKey("practice_items.id", ondelete="CASCADE"), primary_key=True
    )
    attempt: Mapped[int] = mapped_column(primary_key=True)
    answer: Mapped[str] = mapped_column(String(100))
    agrees: Mapped[bool]
    created_at: Mapped[datetime] = mapped_column(default=now)


class GoldPair(Base):
    """A pair of candidates of a query with the right answer: ``left``, ``right`` or ``tie``."""

    __tablename__ = "gold_pairs"
    __table_args__ = (
        UniqueConstraint("query_id", "left_id", "right_id"),
        Index(None, "left_id"),
        Index(None, "right_id"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    left_id: Mapped[int] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    right_id: Mapped[int] = mapped_column(ForeignKey("documents.id", ondelete="CASCADE"))
    answer: Mapped[str] = mapped_column(String(20))
    explanation: Mapped[str] = mapped_column(Text, default="")

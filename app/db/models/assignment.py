"""Assignments, what determines their replay, and the pairs that a team has on its screens."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, BigInt, Json, now
from topkapi.app.db.models.study import Query
from topkapi.app.db.models.user import User
from topkapi.app.domain.enums import Tool
from topkapi.app.domain.plan_digest import plan_digest


def _digest_of_plan(context: Any) -> str:
    return plan_digest(context.get_current_parameters()["plan"])


def _member_of_team(context: Any) -> bool | None:
    return False if context.get_current_parameters()["plan"].get("together") else None


class Assignment(Base):
    """A query assigned to an assessor; it is withdrawn, never deleted.

    ``answered``, ``expected_left``, ``active_ms``, ``last_entry_at``, ``checks``,
    ``checks_agreed``, ``known_answers`` and ``known_right`` summarize the log for queues and
    dashboards. They are written in the transaction that appends the entry, and so is
    ``pending_question`` (column ``offered``): the next question, if the sorter drew it at random.
    ``plan`` changes only if candidates are added to the query, which replays every log as before;
    ``plan_digest`` identifies the plan of a session cached in memory. Void work was finished and
    does not count; it is withdrawn as well. ``completed_at`` is when work was finished that others
    have reopened; ``added_pages`` counts the candidates added since the last entry.
    ``team_waits`` is None without a team; it says whether the member had no question when they
    last looked, as the others had the last pairs.
    """

    __tablename__ = "assignments"
    __table_args__ = (
        UniqueConstraint("user_id", "query_id", "tool", "round"),
        # What queues and dashboards read of an assignment, without its plan.
        Index(
            "ix_assignments_summary",
            *("query_id", "user_id", "tool", "round", "withdrawn_at", "finished_at", "answered"),
            *("expected_left", "active_ms", "last_entry_at", "checks", "checks_agreed"),
            *("known_answers", "known_right"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="RESTRICT"))
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="RESTRICT"))
    tool: Mapped[Tool]
    round: Mapped[int] = mapped_column(default=0)
    plan: Mapped[Json]
    plan_digest: Mapped[str] = mapped_column(String(64), default=_digest_of_plan)
    created_at: Mapped[datetime] = mapped_column(default=now)
    withdrawn_at: Mapped[datetime | None]
    voided_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    answered: Mapped[int] = mapped_column(default=0)
    expected_left: Mapped[int | None]
    active_ms: Mapped[BigInt] = mapped_column(default=0)
    last_entry_at: Mapped[datetime | None]
    checks: Mapped[int] = mapped_column(default=0)
    checks_agreed: Mapped[int] = mapped_column(default=0)
    known_answers: Mapped[int] = mapped_column(default=0)
    known_right: Mapped[int] = mapped_column(default=0)
    pending_question: Mapped[Json | None] = mapped_column("offered")
    completed_at: Mapped[datetime | None]
    added_pages: Mapped[int] = mapped_column(default=0)
    team_waits: Mapped[bool | None] = mapped_column(default=_member_of_team)
    user: Mapped[User] = relationship(lazy="raise")
    query: Mapped[Query] = relationship(lazy="raise")


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

"""Background jobs of a study; prompts of machine assessors, and every call paid for."""

from datetime import datetime

from sqlalchemy import BigInteger, Float, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base, Json, now
from topkapi.app.domain.enums import JobState, Tool


class Job(Base):
    """A computation that a worker process runs; parameters and result are JSON.

    A running job belongs to ``worker`` until ``lease_until``, which the worker keeps extending. A
    job whose lease has expired is taken again, which counts as a further attempt. Neither
    parameters nor results contain ids of rows, names or e-mail addresses.
    """

    __tablename__ = "jobs"
    __table_args__ = (Index(None, "study_id"), Index(None, "state"), Index(None, "created_by"))
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(20))
    parameters: Mapped[Json]
    state: Mapped[JobState] = mapped_column(default=JobState.QUEUED)
    progress: Mapped[float] = mapped_column(Float, default=0.0)
    message: Mapped[str] = mapped_column(Text, default="")
    attempts: Mapped[int] = mapped_column(default=0)
    worker: Mapped[str | None] = mapped_column(String(100))
    lease_until: Mapped[datetime | None]
    stop_requested: Mapped[bool] = mapped_column(default=False)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="RESTRICT"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    result: Mapped[str | None] = mapped_column(Text, deferred=True)


class MachinePrompt(Base):
    """A prompt of a study for one tool; a change is a new ``number``."""

    __tablename__ = "machine_prompts"
    __table_args__ = (UniqueConstraint("study_id", "tool", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    tool: Mapped[Tool]
    number: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class MachineCall(Base):
    """One request to an endpoint, identified by ``key``; none is made twice.

    The key is a digest of endpoint, model, prompt, parameters, order and repeat. The row is written
    before the request, by the job that makes it, and completed by the reply: ``finished_at`` is
    empty while the request is in transit, or if its job was killed then. ``answer`` is None where
    the reply could not be read. ``order`` is ``ab``, or ``ba`` with the sides exchanged.
    ``requests`` counts every try; ``unreported`` ones count with an upper bound of their tokens.
    """

    __tablename__ = "machine_calls"
    __table_args__ = (UniqueConstraint("key"), Index(None, "assignment_id"), Index(None, "job_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(64))
    job_id: Mapped[int | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"))
    assignment_id: Mapped[int] = mapped_column(ForeignKey("assignments.id", ondelete="CASCADE"))
    position: Mapped[int]
    order: Mapped[str] = mapped_column(String(2))
    repeat: Mapped[int] = mapped_column(default=0)
    prompt_number: Mapped[int]
    was_cut: Mapped[bool] = mapped_column(default=False)
    model: Mapped[str] = mapped_column(String(200))
    version: Mapped[str] = mapped_column(String(200), default="")
    form: Mapped[str] = mapped_column(String(20))
    answer: Mapped[str | None] = mapped_column(String(100))
    confidence: Mapped[float | None] = mapped_column(Float)
    reply: Mapped[str] = mapped_column(Text, default="")
    problem: Mapped[str] = mapped_column(Text, default="")
    tokens_in: Mapped[int] = mapped_column(default=0)
    tokens_out: Mapped[int] = mapped_column(default=0)
    latency_ms: Mapped[int] = mapped_column(default=0)
    requests: Mapped[int] = mapped_column(default=0)
    unreported: Mapped[int] = mapped_column(default=0)
    claimed_at: Mapped[datetime] = mapped_column(default=now)
    finished_at: Mapped[datetime | None]


class MachineSpending(Base):
    """What a machine has spent in a study, over all runs and with every try; see `Usage`."""

    __tablename__ = "machine_spending"
    __table_args__ = (UniqueConstraint("study_id", "user_id"), Index(None, "user_id"))
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    user_id: Mapped[int] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    requests: Mapped[int] = mapped_column(default=0)
    unreported: Mapped[int] = mapped_column(default=0)
    tokens_in: Mapped[int] = mapped_column(BigInteger, default=0)
    tokens_out: Mapped[int] = mapped_column(BigInteger, default=0)

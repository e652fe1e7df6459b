"""Background jobs of a study."""

from datetime import datetime

from sqlalchemy import Float, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base, Json, now
from topkapi.app.domain.enums import JobState


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

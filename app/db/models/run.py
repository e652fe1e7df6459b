"""TREC runs of systems, to be scored on a study's labels."""

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from topkapi.app.db.base import Base, now


class SystemRun(Base):
    """The run of one system; ``data`` are its lines, compressed by gzip.

    Lines about queries that the study does not have are kept: it may grow.
    """

    __tablename__ = "runs"
    __table_args__ = (UniqueConstraint("study_id", "system"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id", ondelete="CASCADE"))
    system: Mapped[str] = mapped_column(String(300))
    filename: Mapped[str] = mapped_column(String(300))
    queries: Mapped[int]
    lines: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary, deferred=True)
    created_at: Mapped[datetime] = mapped_column(default=now)

"""Rankings to be judged side by side, and TREC runs to be scored on a study's labels."""

from datetime import datetime

from sqlalchemy import JSON, ForeignKey, LargeBinary, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base, now
from topkapi.app.db.models.study import Query


class Ranking(Base):
    """The ranking of one system for one query; ``documents`` are document ids, best first."""

    __tablename__ = "rankings"
    __table_args__ = (UniqueConstraint("query_id", "system"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    query_id: Mapped[int] = mapped_column(ForeignKey("queries.id", ondelete="CASCADE"))
    system: Mapped[str] = mapped_column(String(300))
    documents: Mapped[list[int]] = mapped_column(JSON)
    query: Mapped[Query] = relationship(lazy="raise")


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

"""Rankings that systems made for a query, to be judged side by side."""

from sqlalchemy import JSON, ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from topkapi.app.db.base import Base
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
